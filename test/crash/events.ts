import type { Service } from '../support/service.ts';

/** The state of a dummy: its text, or `deleted`. */
type Dummies = ReadonlyMap<number, { readonly acknowledged: string }>;

interface Event {
  readonly id: string;
  readonly type: string;
  readonly subject: string;
  readonly data: { readonly text?: string };
}

/** Compares the event log with the dummies after each crash: each change has one event. */
export class Events {
  private readonly created = new Set<string>();
  private readonly states = new Map<string, string>();
  readonly ids = new Set<string>();
  private cursor = '';

  /** @throws Error when one is missing or repeated */
  async verify(service: Service, dummies: Dummies): Promise<void> {
    const before = this.ids.size;
    for (let isMore = true; isMore;) {
      const reply = await service.fetch(`/v1/events?limit=100&cursor=${this.cursor}`);
      const page = (await reply.json()) as { data: Event[]; next_cursor?: string; has_next: boolean };
      for (const event of page.data) this.record(event);
      this.cursor = page.next_cursor ?? this.cursor;
      isMore = page.has_next;
    }
    for (const [id, { acknowledged }] of dummies) {
      const state = this.states.get(`/v1/dummies/${id}`);
      if (state !== acknowledged)
        throw new Error(`Dummy ${id} is ${acknowledged}, and its last event has ${state}`);
    }
    console.log(`${this.ids.size - before} events, one for each change`);
  }

  private record({ id, type, subject, data }: Event): void {
    if (this.ids.has(id)) throw new Error(`The event ${id} is listed twice`);
    this.ids.add(id);
    if (!subject.startsWith('/v1/dummies/')) return;
    if (type === 'dummy.created' && this.created.has(subject))
      throw new Error(`${subject} was created twice`);
    if (type !== 'dummy.created' && !this.created.has(subject))
      throw new Error(`${subject} was never created`);
    this.created.add(subject);
    this.states.set(subject, type === 'dummy.deleted' ? 'deleted' : data.text!);
  }
}
