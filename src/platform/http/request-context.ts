import { AsyncLocalStorage } from 'node:async_hooks';
import { isAscii, isUtf8 } from 'node:buffer';
import type { FastifyRequest } from 'fastify';
import { canonicalAddress } from './forwarded-for.js';
import type { Principal } from './principal.js';

declare module 'fastify' {
  interface FastifyRequest {
    context: RequestContext;
  }
}

/** The client of a request. */
export interface ClientInfo {
  /** Of the connection, or behind trusted proxies the one that they forward. */
  readonly address: string;
  /** The `User-Agent`, cut at 200 characters; empty without one. */
  readonly agent: string;
}

/** Ends the transaction of a request with an `Idempotency-Key`. */
interface KeyedResponse {
  /** Called right before the response is sent. @returns the payload to send. @throws if it must not be sent */
  finish(payload: unknown): Promise<unknown>;
}

/** All that belongs to a request while it is handled: `request.context`, or {@link currentContext} in a service. */
export class RequestContext {
  /** The caller: in progress or done. `Authenticator` sets it. */
  caller: Promise<Principal | null> | undefined;
  /** The acting account of a request without a credential, such as a login or a registration: `Changes.record` sets it. */
  actor: number | undefined;
  /** What the request does, for the audit log, if its route does not say that: `mutation createPost`. */
  action: string | undefined;
  /** Whether it changes nothing although its method may: a GraphQL query. */
  isQuery = false;
  /** The JSON text of the body, unchanged, for routes that store it; `undefined` without a body. */
  bodyText: string | undefined;
  /** Whether any access to the body throws, because it is not JSON. */
  isBodyUnreadable = false;
  /** Whether the client has the representation already. */
  isNotModified = false;
  /** From the handler of a request with an `Idempotency-Key` until its response is sent. */
  keyedResponse: KeyedResponse | undefined;

  constructor(readonly request: FastifyRequest) {}

  get id(): string {
    return this.request.id;
  }

  get client(): ClientInfo {
    const { ip, headers } = this.request;
    // A connection that was closed before it was accepted has no address.
    return { address: canonicalAddress(ip ?? '') ?? '', agent: agentOf(headers['user-agent'] ?? '') };
  }

  /** The account that acts; `undefined` while it is unknown. */
  get accountId(): number | undefined {
    return this.request.user?.id ?? this.actor;
  }
}

/** Node reads the bytes of a header as Latin-1; many clients write UTF-8. */
function agentOf(header: string): string {
  const bytes = Buffer.from(header, 'latin1');
  const text = isAscii(bytes) || !isUtf8(bytes) ? header : bytes.toString();
  // Half of a character at the end could not be stored.
  return text.slice(0, 200).toWellFormed();
}

const contexts = new AsyncLocalStorage<RequestContext>();

/** Runs the handling of a request, whose log lines all get the request's id. */
export const runInContext = <T>(context: RequestContext, work: () => T): T => contexts.run(context, work);

/** The context of the current request; `undefined` in background work and commands. */
export const currentContext = (): RequestContext | undefined => contexts.getStore();
