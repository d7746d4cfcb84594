import { createHmac } from 'node:crypto';
import { PREFIX } from './webhook-secrets.js';

interface Message {
  readonly id: string;
  /** In seconds since the epoch. */
  readonly timestamp: number;
  readonly body: Buffer;
}

/** The headers of an attempt (Standard Webhooks 1.0), with a signature of each secret. */
export function signedHeaders(
  { id, timestamp, body }: Message,
  secrets: readonly string[],
): Record<'webhook-id' | 'webhook-timestamp' | 'webhook-signature', string> {
  const signatures = secrets.map((secret) => {
    const key = Buffer.from(secret.slice(PREFIX.length), 'base64');
    return `v1,${createHmac('sha256', key).update(`${id}.${timestamp}.`).update(body).digest('base64')}`;
  });
  return {
    'webhook-id': id,
    'webhook-timestamp': String(timestamp),
    'webhook-signature': signatures.join(' '),
  };
}
