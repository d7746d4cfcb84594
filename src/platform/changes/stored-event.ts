/** A row of the log. */
export interface EventRow {
  readonly position: number;
  readonly epoch: string;
  readonly type: string;
  readonly subject: string;
  readonly time: string;
  /** JSON. */
  readonly data: string;
  readonly is_private: boolean | number;
  readonly owner_id: number | null;
}

/** The id for consumers, to continue from. */
export const eventId = ({ epoch, position }: Pick<EventRow, 'epoch' | 'position'>): string =>
  `${epoch}-${position}`;

/** An event of the log. Its serialized forms are computed once for all consumers. */
export class StoredEvent {
  readonly id: string;
  readonly position: number;
  readonly type: string;
  readonly subject: string;
  readonly time: string;
  readonly isPrivate: boolean;
  readonly ownerId: number | null;
  private parsed: unknown;
  private text: string | undefined;
  private sseFrame: Buffer | undefined;

  constructor(
    private readonly row: EventRow,
    readonly source: string,
  ) {
    const { position, type, subject, time, is_private: isPrivate, owner_id: ownerId } = row;
    this.id = eventId(row);
    this.position = position;
    this.type = type;
    this.subject = subject;
    this.time = time;
    this.isPrivate = Boolean(isPrivate);
    this.ownerId = ownerId;
  }

  /** The resource after the change, as in the REST API. All consumers share it: do not change it. */
  get data(): unknown {
    return (this.parsed ??= JSON.parse(this.row.data));
  }

  /** The event as JSON (CloudEvents 1.0, JSON format). */
  get json(): string {
    const { id, source, type, subject, time } = this;
    return (this.text ??= toJson({ id, source, type, subject, time, data: this.row.data }));
  }

  /** The event in the format of server-sent events. */
  get frame(): Buffer {
    return (this.sseFrame ??= Buffer.from(`id: ${this.id}\nevent: ${this.type}\ndata: ${this.json}\n\n`));
  }
}

interface Envelope {
  readonly id: string;
  readonly source: string;
  readonly type: string;
  readonly subject: string;
  readonly time: string;
  /** JSON. */
  readonly data: string;
}

/** An event as JSON (CloudEvents 1.0, JSON format). */
export function toJson({ id, source, type, subject, time, data }: Envelope): string {
  const attributes = {
    specversion: '1.0',
    id,
    source,
    type,
    subject,
    time,
    datacontenttype: 'application/json',
  };
  return `${JSON.stringify(attributes).slice(0, -1)},"data":${data}}`;
}

/** The viewer: someone who sees everything, or an account that also sees its own private events (null: none). */
export type Viewer = 'everything' | { readonly accountId: number | null };

/** Selects the events of a consumer. */
export class EventFilter {
  /** Consumers with the same key get the same events. */
  readonly key: string;
  private readonly wanted: ReadonlySet<string> | undefined;

  /** @param types undefined: all */
  constructor(
    readonly viewer: Viewer,
    readonly types?: readonly string[],
  ) {
    this.key = JSON.stringify([viewer, types]);
    this.wanted = types && new Set(types);
  }

  accepts({ type, isPrivate, ownerId }: StoredEvent): boolean {
    if (this.wanted && !this.wanted.has(type)) return false;
    const { viewer } = this;
    return viewer === 'everything' || !isPrivate || (ownerId !== null && ownerId === viewer.accountId);
  }
}

export const EVERY_EVENT = new EventFilter('everything');
