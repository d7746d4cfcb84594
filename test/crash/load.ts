import type { Service } from '../support/service.ts';

/** A service under load that will be killed. */
export interface Load {
  readonly service: Service;
  /** Set when the service is killed: from then on, requests may fail. */
  killed: boolean;
}

/** @returns the body of the expected response, or `killed` when the service was killed */
export async function send(load: Load, status: number, path: string, init: RequestInit): Promise<string> {
  let reply: Response;
  let body: string;
  try {
    reply = await load.service.fetch(path, init);
    body = await reply.text();
  } catch (error) {
    if (load.killed) return 'killed';
    throw error;
  }
  if (reply.status !== status) {
    throw new Error(`${init.method} ${path} got ${reply.status}: ${body}`);
  }
  return body;
}
