import type { FastifyReply, FastifyRequest } from 'fastify';
import { stringify } from '../common/http/json-text.js';
import { setResourceHeaders } from '../common/http/resource-headers.js';

/** An answer as it was sent. */
export interface Answer {
  readonly status: number;
  /** Those that handling the request has set. */
  readonly headers: Readonly<Record<string, number | string | string[] | undefined>>;
  /** `null` where nothing was sent. */
  readonly body: string | null;
}

/** Has the handler answer, up to the text that is to be sent. */
export async function answerOf(
  request: FastifyRequest,
  reply: FastifyReply,
  handle: () => unknown,
): Promise<Answer> {
  const before = reply.getHeaders();
  const body = toText(request, reply, await handle());
  const headers = Object.entries(reply.getHeaders()).filter(([name, value]) => before[name] !== value);
  return { status: reply.statusCode, headers: Object.fromEntries(headers), body };
}

/** @returns the text to send, if any */
export function giveAgain(reply: FastifyReply, { status, headers, body }: Answer): string | undefined {
  reply.status(status).headers(headers).header('idempotent-replayed', 'true');
  return body ?? undefined;
}

/** A reply as it was before it was handled: what an attempt sets that is taken back must not show. */
export function remember(reply: FastifyReply): { restore: () => void } {
  const { statusCode } = reply;
  const before = reply.getHeaders();
  const restore = () => {
    for (const name of Object.keys(reply.getHeaders())) if (!(name in before)) reply.removeHeader(name);
    reply.status(statusCode).headers(before);
  };
  return { restore };
}

function toText(request: FastifyRequest, reply: FastifyReply, value: unknown): string | null {
  if (value === undefined) return null;
  if (typeof value === 'string') return value;
  setResourceHeaders(request, reply, value);
  if (!reply.hasHeader('content-type')) reply.type('application/json; charset=utf-8');
  return stringify(value);
}
