import { setTimeout as sleep } from 'node:timers/promises';
import { EventClient, StreamRefused } from '../../support/events-client.ts';
import { until } from '../../support/until.ts';
import { listAll } from './list-all.ts';
import type { Load } from './load.ts';

/** The interval that the stream tells its clients, in milliseconds. */
const RETRY = 2000;

/** In milliseconds: the machine may be busy. */
const TIMEOUT = 60_000;

interface Event {
  readonly id: string;
  readonly type: string;
  readonly subject: string;
}

/** A consumer of all events that continues after its last one, over any number of connections. */
class Stream {
  readonly ids: string[] = [];
  readonly faults: string[] = [];
  connections = 0;
  private readonly url: string;
  private readonly load: Load;
  private client: EventClient | undefined;
  private isClosed = false;
  private readonly following: Promise<void>;

  constructor(api: string, load: Load) {
    this.url = `${api}/v1/events/stream`;
    this.load = load;
    this.following = this.follow();
  }

  async close(): Promise<void> {
    this.isClosed = true;
    this.client?.close();
    await this.following;
  }

  private async follow(): Promise<void> {
    while (!this.isClosed) {
      try {
        await this.connect();
      } catch (error) {
        if (!this.isExpected(error)) this.faults.push((error as Error).message);
      }
      if (!this.isClosed) await sleep(RETRY);
    }
  }

  /** 503 that says when to try again, or a connection that is lost with the replica that is killed. */
  private isExpected(error: unknown): boolean {
    if (!(error instanceof StreamRefused)) return this.load.losesRequests;
    const { statusCode, headers } = error.response;
    return statusCode === 503 ? 'retry-after' in headers : statusCode === 502 && this.load.losesRequests;
  }

  private async connect(): Promise<void> {
    const onEvent = ({ id }: { id: string }) => void this.ids.push(id);
    this.client = await EventClient.open(this.url, { lastEventId: this.ids.at(-1), onEvent });
    this.connections++;
    while (!this.client.isOver) await sleep(100);
  }
}

/** Consumers of all events, and what they have to receive. */
export class Events {
  readonly faults: string[] = [];
  readonly ids = new Set<string>();
  private readonly url: string;
  private readonly streams: readonly Stream[];
  /** The number of events before the streams, which get all later ones. */
  private earlier = 0;

  private constructor(url: string, load: Load) {
    this.url = url;
    this.streams = [0, 1, 2].map(() => new Stream(url, load));
  }

  /** Call it before the load starts. */
  static async open(url: string, load: Load): Promise<Events> {
    const events = new Events(url, load);
    await until('streams are open', () => events.streams.every(({ connections }) => connections > 0));
    events.earlier = (await listAll<Event>(url, '/v1/events')).length;
    return events;
  }

  untilReceived(): Promise<void> {
    return until('each stream has events', () => this.streams.every(({ ids }) => ids.length > 0));
  }

  /**
   * One event for each dummy and stub, in one order for all consumers.
   *
   * @param stubs ids of all stubs
   */
  async verify(stubs: readonly number[]): Promise<void> {
    const events = await listAll<Event>(this.url, '/v1/events');
    const ids = events.map(({ id }) => id);
    for (const id of ids) this.ids.add(id);
    if (this.ids.size < ids.length) this.faults.push('The feed has an id twice');
    const dummies = await listAll<{ id: number }>(this.url, '/v1/dummies');
    this.compareCreated(
      events,
      '/v1/dummies',
      dummies.map(({ id }) => id),
    );
    this.compareCreated(events, '/v1/stubs', stubs);
    for (const stream of this.streams) await this.compare(stream, ids);
    const epochs = new Set(ids.map((id) => id.split('-', 1)[0]));
    const connections = this.streams.map((stream) => stream.connections).join(', ');
    console.log(`${ids.length} events in ${epochs.size} epochs, on streams with ${connections} connections`);
    await Promise.all(this.streams.map((stream) => stream.close()));
  }

  private compareCreated(events: readonly Event[], path: string, ids: readonly number[]): void {
    const subjects = events
      .filter(({ type, subject }) => type.endsWith('.created') && subject.startsWith(`${path}/`))
      .map(({ subject }) => subject);
    const expected = new Set(ids.map((id) => `${path}/${id}`));
    const found = new Set(subjects.filter((subject) => expected.has(subject)));
    if (found.size !== expected.size || subjects.length !== expected.size)
      this.faults.push(`${expected.size} of ${path} have ${subjects.length} events`);
  }

  private async compare({ ids: received, faults }: Stream, all: readonly string[]): Promise<void> {
    const expected = all.slice(Math.min(this.earlier, all.indexOf(received[0]!)));
    const isComplete = () => received.length >= expected.length && received.at(-1) === all.at(-1);
    await until('a stream has all events', isComplete, TIMEOUT).catch((error: Error) =>
      this.faults.push(error.message),
    );
    this.faults.push(...faults);
    if (received.join() === expected.join()) return;
    const known = new Set(received);
    const missing = expected.filter((id) => !known.has(id));
    this.faults.push(
      `A stream got ${received.length} of ${expected.length} events, ${received.length - known.size} twice; missing: ${missing.slice(0, 3).join()}`,
    );
  }
}
