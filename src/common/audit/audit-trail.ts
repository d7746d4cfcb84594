import { AsyncLocalStorage } from 'node:async_hooks';

/** Where a change comes from. */
export interface AuditSource {
  readonly address: string;
  readonly agent: string;
  readonly requestId: string;
}

/** What a request or a command changes, as far as is known yet; the audit log writes it down. */
export class AuditTrail {
  /** Who does it, where no caller is authenticated: someone who logs in, or comes by a token of a mail. */
  accountId: number | undefined;
  /** Whether a change whose subject nobody has named gets an entry, by the path of the request. */
  recordsUnnamed = true;
  /** The only row that was inserted, by table and id; `undefined` where it is not the only one. */
  private inserted: { readonly table: string; readonly id: string } | undefined;
  private hasInserted = false;
  /** The ids in the path, by the names of their parameters. */
  private readonly ids = new Map<string, number>();
  private hasRecorded = false;
  private isClosed = false;

  /**
   * @param action what is done, such as `PATCH /v1/posts/:id`
   * @param subject what is changed, where nobody has named it, by the id of the only row that was inserted
   * @param caller who is authenticated; null for whoever runs a command
   * @param isSummary whether all that is changed together is one entry
   */
  constructor(
    public source: AuditSource,
    public action: string,
    private readonly subject: (insertedId: string | undefined) => string,
    private readonly caller: () => number | null | undefined,
    private readonly isSummary = false,
  ) {}

  /** The request is over: what it has started in the background is not its doing. */
  close(): void {
    this.isClosed = true;
  }

  /** The account that is responsible; null for a command, `undefined` while nobody is known. */
  get responsible(): number | null | undefined {
    if (this.isClosed) return undefined;
    const caller = this.caller();
    return caller === undefined ? this.accountId : caller;
  }

  /** The id that a parameter of the path stands for: `/v1/posts/007` is about `/v1/posts/7`. */
  noteId(parameter: string, id: number): void {
    this.ids.set(parameter, id);
  }

  idOf(parameter: string): number | undefined {
    return this.ids.get(parameter);
  }

  /** A row was inserted. An attempt that is repeated inserts another one into the same table. */
  noteInsert(table: string, id: string | undefined): void {
    const isOnly = id !== undefined && (!this.hasInserted || this.inserted?.table === table);
    this.inserted = isOnly ? { table, id } : undefined;
    this.hasInserted = true;
  }

  /** The subjects of the entries of a change, by those that it has named. */
  subjectsOf(named: readonly string[]): readonly string[] {
    if (named.length > 0 && !this.isSummary) return named;
    return this.hasRecorded || !this.recordsUnnamed ? [] : [this.subject(this.inserted?.id)];
  }

  /** A change is in the log, with all that was inserted until then. */
  markRecorded(): void {
    this.hasRecorded = true;
    this.hasInserted = false;
    this.inserted = undefined;
  }
}

const trails = new AsyncLocalStorage<AuditTrail | undefined>();

export const runWithTrail = <T>(trail: AuditTrail, work: () => T): T => trails.run(trail, work);

/** Does what is not the doing of the caller, such as counting how often they were wrong. */
export const runWithoutTrail = <T>(work: () => T): T => trails.run(undefined, work);

export const currentTrail = (): AuditTrail | undefined => trails.getStore();

/** Says which account acts, where no caller is authenticated. */
export function auditAccount(id: number): void {
  const trail = currentTrail();
  if (trail) trail.accountId = id;
}

/** Leaves the address and the client of whoever acts out of the log. */
export function auditAnonymously(): void {
  const trail = currentTrail();
  if (trail) trail.source = { ...trail.source, address: '', agent: '' };
}
