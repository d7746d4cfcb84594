import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { WebSocket } from 'ws';
import type { Reply } from './api.js';

/** Sends an upgrade request. @returns an open WebSocket, or the response that rejects it */
export async function upgrade(
  url: string,
  headers: Record<string, string> = {},
): Promise<{ socket: WebSocket } | { socket: undefined; reply: Reply }> {
  const socket = new WebSocket(url.replace(/^http/, 'ws'), 'graphql-transport-ws', { headers });
  const rejected = new Promise<IncomingMessage>((resolve) => {
    socket.once('unexpected-response', (_, response) => resolve(response));
  });
  const response = await Promise.race([once(socket, 'open'), rejected]);
  if (Array.isArray(response)) return { socket };
  const chunks: Buffer[] = [];
  for await (const chunk of response) chunks.push(chunk as Buffer);
  const text = Buffer.concat(chunks).toString();
  return {
    socket: undefined,
    reply: {
      status: response.statusCode!,
      headers: response.headers as Reply['headers'],
      body: JSON.parse(text),
      text,
    },
  };
}

/** Opens a WebSocket and closes it. @returns the response if it was rejected */
export async function tryUpgrade(
  url: string,
  headers: Record<string, string> = {},
): Promise<Reply | undefined> {
  const result = await upgrade(url, headers);
  if (!result.socket) return result.reply;
  const closed = once(result.socket, 'close');
  result.socket.close();
  await closed;
  return undefined;
}
