import { randomInt, randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';

/** Clients of each kind, and the pause of each between two requests in milliseconds. */
export const CLIENTS = { dummies: 4, stubs: 4, accounts: 1, mutations: 2, reads: 2 };
const PAUSE = 40;

/** After a 503. A real client waits for `Retry-After`. */
const RETRY = 250;

type Kind = keyof typeof CLIENTS;

export const PASSWORD = 'a password of the cluster test';

const CREATE = 'mutation ($input: CreateDummyInput!) { createDummy(input: $input) { id text } }';

interface Reply {
  readonly status: number;
  readonly headers: Headers;
  /** Parsed, or the text of what is no JSON. */
  readonly body: any;
}

interface PostOptions {
  readonly headers?: Record<string, string>;
  /** The expected one. */
  readonly status?: number;
  /** Called when no replica has got the request. */
  readonly onRefused?: () => void;
}

interface StubRequest {
  readonly key: string;
  readonly n: number;
}

/**
 * Clients that write and read through the proxy. They note what was acknowledged, and each response that clients must
 * not get.
 */
export class Load {
  private readonly url: string;
  private readonly stopping = new AbortController();
  private clients: Promise<void>[] = [];
  private readonly acknowledgements = new Map<Kind, number>();
  /** When writes were acknowledged. */
  private readonly writes: number[] = [];

  /** Ids by text; `undefined` if a replica may have got the request, and has not acknowledged it. */
  readonly dummies: Map<string, number | undefined>;
  /** Acknowledged stubs by their requests. */
  readonly stubs: Map<StubRequest, string>;
  readonly accounts: string[];
  readonly faults: string[];
  /** Whether a replica is killed: then a request that it was serving is lost. */
  losesRequests = false;
  served = 0;
  unavailable = 0;
  lost = 0;

  /** @param of what it notes its acknowledgements and faults with */
  constructor(url: string, of?: Load) {
    this.url = url;
    this.dummies = of?.dummies ?? new Map();
    this.stubs = of?.stubs ?? new Map();
    this.accounts = of?.accounts ?? [];
    this.faults = of?.faults ?? [];
  }

  start(): void {
    this.clients = Object.entries(CLIENTS).flatMap(([kind, count]) =>
      Array.from({ length: count }, async () => {
        for (let n = 0; !this.stopping.signal.aborted; n++) {
          await this.work(kind as Kind, n).catch((error: Error) => this.faults.push(error.stack!));
          await sleep(PAUSE);
        }
      }),
    );
  }

  /** Sends one request of each kind. @returns whether all were served */
  async once(): Promise<boolean> {
    const start = performance.now();
    await Promise.all(Object.keys(CLIENTS).map((kind) => this.work(kind as Kind, 0)));
    return this.hasServedSince(start);
  }

  fetch(path: string, init?: RequestInit): Promise<Response> {
    return fetch(this.url + path, init);
  }

  async stop(): Promise<void> {
    this.stopping.abort();
    await Promise.all(this.clients);
  }

  /** Whether each kind of request has been served since a time. */
  hasServedSince(time: number): boolean {
    return Object.keys(CLIENTS).every((kind) => (this.acknowledgements.get(kind as Kind) ?? 0) > time);
  }

  firstWriteAfter(time: number): number | undefined {
    return this.writes.find((each) => each > time);
  }

  /** Between two acknowledged writes. */
  longestPauseSince(time: number): number {
    const since = this.writes.filter((each) => each > time);
    return Math.max(...since.map((each, n) => each - (since[n - 1] ?? time)));
  }

  private work(kind: Kind, n: number): Promise<void> {
    const work: Record<Kind, () => Promise<void>> = {
      dummies: () => this.createDummy(n),
      stubs: () => this.createStub(n),
      accounts: () => this.register(),
      mutations: () => this.mutate(n),
      reads: () => this.read(),
    };
    return work[kind]();
  }

  private async createDummy(n: number): Promise<void> {
    const text = `${n} ${randomUUID()}`;
    this.dummies.set(text, undefined);
    const reply = await this.post(
      'dummies',
      '/v1/dummies',
      { text },
      { onRefused: () => this.dummies.delete(text) },
    );
    if (reply) this.acknowledge('dummies', text, reply.body.data.id);
  }

  private async mutate(n: number): Promise<void> {
    const text = `${n} ${randomUUID()}`;
    this.dummies.set(text, undefined);
    const body = { query: CREATE, variables: { input: { text } } };
    const options = { status: 200, onRefused: () => this.dummies.delete(text) };
    const reply = await this.post('mutations', '/graphql', body, options);
    if (reply) this.acknowledge('mutations', text, Number(reply.body.data.createDummy.id));
  }

  /** Repeats the request with its key until there is a response, and then once more. */
  private async createStub(n: number): Promise<void> {
    const request = { key: randomUUID(), n };
    let stub = await this.sendStub(request);
    while (stub === undefined) stub = await this.sendStub(request);
    this.stubs.set(request, stub);
    this.note('stubs');
    const replay = await this.sendStub(request);
    if (replay !== undefined && replay !== stub)
      this.faults.push(`The key ${request.key} gave ${stub}, and then ${replay}`);
  }

  /** @returns the response, if there is one */
  async sendStub(request: StubRequest): Promise<string | undefined> {
    const headers = { 'idempotency-key': request.key };
    const reply = await this.post('stubs', '/v1/stubs', request, { headers });
    return reply && JSON.stringify(reply.body);
  }

  private async register(): Promise<void> {
    const email = `${randomUUID()}@example.com`;
    // Only some registrations from one network get a mail.
    const headers = { 'x-forwarded-for': `198.18.${randomInt(256)}.1` };
    const account = { email, name: 'Ada', password: PASSWORD };
    const reply = await this.post('accounts', '/auth/register/', account, { headers });
    if (!reply) return;
    this.accounts.push(email);
    this.note('accounts');
  }

  /** What was acknowledged can be read at once. */
  private async read(): Promise<void> {
    const ids = [...this.dummies.values()].filter((id) => id !== undefined);
    if (ids.length === 0) return;
    const id = Math.random() < 0.5 ? ids.at(-1)! : ids[Math.floor(Math.random() * ids.length)]!;
    if (await this.send('reads', `/v1/dummies/${id}`, {}, { status: 200 })) this.note('reads');
  }

  private acknowledge(kind: Kind, text: string, id: number): void {
    this.dummies.set(text, id);
    this.note(kind);
  }

  private note(kind: Kind): void {
    const now = performance.now();
    this.acknowledgements.set(kind, now);
    if (kind !== 'reads') this.writes.push(now);
  }

  private post(
    kind: Kind,
    path: string,
    body: object,
    { headers = {}, status = 201, onRefused }: PostOptions = {},
  ) {
    const init = {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body: JSON.stringify(body),
    };
    return this.send(kind, path, init, { status, onRefused });
  }

  /** @returns nothing if the service was unavailable, or the response is not the expected one */
  private async send(
    kind: Kind,
    path: string,
    init: RequestInit,
    { status, onRefused }: { status: number; onRefused?: (() => void) | undefined },
  ): Promise<Reply | undefined> {
    const reply = await this.request(path, init).catch((error: Error) => error);
    const isLost = reply instanceof Error || reply.status === 502;
    if (isLost && this.losesRequests) {
      this.lost++;
      return undefined;
    }
    if (reply instanceof Error) {
      this.faults.push(`${kind}: ${reply.message} ${(reply.cause as Error | undefined)?.message}`);
    } else if (isUnavailable(kind, reply)) {
      this.unavailable++;
      // The response of the proxy: no replica has got the request.
      if (!reply.headers.has('x-request-id')) onRefused?.();
    } else if (reply.status === status && reply.body.errors === undefined) {
      this.served++;
      return reply;
    } else if (!isInUse(kind, reply)) {
      this.faults.push(`${kind}: ${reply.status} ${JSON.stringify(reply.body)}`);
    }
    await sleep(RETRY);
    return undefined;
  }

  private async request(path: string, init: RequestInit): Promise<Reply> {
    const reply = await this.fetch(path, init);
    const text = await reply.text();
    return { status: reply.status, headers: reply.headers, body: parse(text) };
  }
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

/** The only error that clients may get while the database is away: it says when to try again. */
function isUnavailable(kind: Kind, { status, headers, body }: Reply): boolean {
  if (status === 503) return body.error?.code === 'SERVICE_UNAVAILABLE' && headers.has('retry-after');
  return (
    kind === 'mutations' && status === 200 && body.errors?.[0]?.extensions?.code === 'SERVICE_UNAVAILABLE'
  );
}

/** Another replica has not yet given up on the first request with the key. */
const isInUse = (kind: Kind, { status, body }: Reply): boolean =>
  kind === 'stubs' && status === 409 && body.error?.code === 'IDEMPOTENCY_KEY_IN_USE';
