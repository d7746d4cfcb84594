import type { FastifyReply } from 'fastify';

/** A response as it was sent. */
export interface StoredResponse {
  readonly status: number;
  /** The headers that handling the request has set. */
  readonly headers: Readonly<Record<string, number | string | string[] | undefined>>;
  /** `null` where the response had no body. */
  readonly body: string | null;
}

/** A reply before the handler has run. */
export class ReplySnapshot {
  private readonly status: number;
  private readonly headers: ReturnType<FastifyReply['getHeaders']>;

  constructor(private readonly reply: FastifyReply) {
    this.status = reply.statusCode;
    this.headers = reply.getHeaders();
  }

  /** Removes what an attempt that was rolled back has set. */
  restore(): void {
    const { reply, headers } = this;
    for (const name of Object.keys(reply.getHeaders())) if (!(name in headers)) reply.removeHeader(name);
    reply.status(this.status).headers(headers);
  }

  /** @throws TypeError for a body that is no text, such as a stream: it cannot be stored and sent again */
  responseWith(payload: unknown): StoredResponse {
    if (payload !== undefined && payload !== null && typeof payload !== 'string') {
      throw new TypeError('An @Idempotent() handler must respond with JSON, text or nothing');
    }
    const { reply, headers: before } = this;
    const headers = Object.entries(reply.getHeaders()).filter(([name, value]) => before[name] !== value);
    return { status: reply.statusCode, headers: Object.fromEntries(headers), body: payload || null };
  }
}

/** Sends a stored response instead of what the handler and its interceptors would send. @returns its body */
export function replay(reply: FastifyReply, { status, headers, body }: StoredResponse): string | null {
  reply.status(status).headers(headers).header('idempotent-replayed', 'true');
  return body;
}
