import { execFile } from 'node:child_process';
import { Receiver } from '../support/receiver.ts';
import type { Service } from '../support/service.ts';
import { until } from '../support/until.ts';
import { environmentOfProcess } from '../support/environment.ts';

const STAFF = { email: 'events@example.com', password: 'crash test password' };

/** In milliseconds: a delivery in flight when the service is killed is retried after its lease. */
const TIMEOUT = 90_000;

/** The state of a post: its title, or `deleted`. */
type Posts = ReadonlyMap<number, { readonly acknowledged: string }>;

interface Event {
  readonly id: string;
  readonly type: string;
  readonly subject: string;
  readonly data: { readonly title?: string };
}

/**
 * Compares the event log with the posts after each crash: each change has one event, and a webhook receives each event.
 */
export class Events {
  private readonly receiver: Receiver;
  private readonly created = new Set<string>();
  private readonly states = new Map<string, string>();
  private readonly ids = new Set<string>();
  private cursor = '';

  private constructor(receiver: Receiver) {
    this.receiver = receiver;
  }

  static async start(service: Service, environment: Readonly<Record<string, string>>): Promise<Events> {
    await createStaff(environment);
    const receiver = await Receiver.start();
    const login = await service.fetch('/auth/login/', {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(STAFF),
    });
    const { access } = (await login.json()) as { access: string };
    const reply = await service.fetch('/v1/webhooks', {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: `Bearer ${access}` },
      body: JSON.stringify({ url: `${receiver.url}/`, types: ['*'] }),
    });
    if (reply.status !== 201) throw new Error(`The webhook was not created: ${reply.status}`);
    return new Events(receiver);
  }

  /** @returns the number of new events @throws Error when one is missing or repeated */
  async verify(service: Service, posts: Posts): Promise<number> {
    const before = this.ids.size;
    for (let isMore = true; isMore;) {
      const reply = await service.fetch(`/v1/events?limit=100&cursor=${this.cursor}`);
      const page = (await reply.json()) as { data: Event[]; next_cursor?: string; has_next: boolean };
      for (const event of page.data) this.record(event);
      this.cursor = page.next_cursor ?? this.cursor;
      isMore = page.has_next;
    }
    for (const [id, { acknowledged }] of posts) {
      const state = this.states.get(`/v1/posts/${id}`);
      if (state !== acknowledged)
        throw new Error(`Post ${id} is ${acknowledged}, and its last event has ${state}`);
    }
    const delivered = () => new Set(this.receiver.delivered.map(({ headers }) => headers['webhook-id']));
    await until('every event was delivered', () => [...this.ids].every((id) => delivered().has(id)), TIMEOUT);
    if (delivered().size > this.ids.size) throw new Error('Something other than an event was delivered');
    return this.ids.size - before;
  }

  async stop(): Promise<void> {
    await this.receiver.stop();
  }

  private record({ id, type, subject, data }: Event): void {
    if (this.ids.has(id)) throw new Error(`The event ${id} is listed twice`);
    this.ids.add(id);
    if (!subject.startsWith('/v1/posts/')) return;
    if (type === 'post.created' && this.created.has(subject)) throw new Error(`${subject} was created twice`);
    if (type !== 'post.created' && !this.created.has(subject))
      throw new Error(`${subject} was never created`);
    this.created.add(subject);
    this.states.set(subject, type === 'post.deleted' ? 'deleted' : data.title!);
  }
}

function createStaff(environment: Readonly<Record<string, string>>): Promise<void> {
  return new Promise((resolve, reject) => {
    const child = execFile(
      process.execPath,
      ['dist/commands/account.js', 'create-superuser', '--email', STAFF.email, '--name', 'Events'],
      { env: { ...environmentOfProcess(), ...environment } },
      (error) => (error ? reject(error) : resolve()),
    );
    child.stdin!.end(`${STAFF.password}\n`);
  });
}
