import type { FastifyReply } from 'fastify';

/** A response as it was sent. */
export interface StoredResponse {
  readonly status: number;
  /** The headers that the handling of the request has set. */
  readonly headers: Readonly<Record<string, number | string | string[] | undefined>>;
  /** `null` if the response had no body. */
  readonly body: string | null;
}

/** The state of a reply before the handler runs. */
export class ReplySnapshot {
  private readonly status: number;
  private readonly headers: ReturnType<FastifyReply['getHeaders']>;

  constructor(private readonly reply: FastifyReply) {
    this.status = reply.statusCode;
    this.headers = reply.getHeaders();
  }

  /** Removes what a rolled back attempt has set. */
  restore(): void {
    const { reply, headers } = this;
    for (const name of Object.keys(reply.getHeaders())) if (!(name in headers)) reply.removeHeader(name);
    reply.status(this.status).headers(headers);
  }

  /** @throws TypeError for a body that is not text, such as a stream: it cannot be stored */
  responseWith(payload: unknown): StoredResponse {
    if (payload !== undefined && payload !== null && typeof payload !== 'string') {
      throw new TypeError('An @Idempotent() handler must respond with JSON, text or nothing');
    }
    const { reply, headers: before } = this;
    const headers = Object.entries(reply.getHeaders()).filter(([name, value]) => before[name] !== value);
    return { status: reply.statusCode, headers: Object.fromEntries(headers), body: payload || null };
  }
}

/** Sends a stored response instead of that of the handler and its interceptors. @returns its body */
export function replay(reply: FastifyReply, { status, headers, body }: StoredResponse): string | null {
  reply.status(status).headers(headers).header('idempotent-replayed', 'true');
  return body;
}
