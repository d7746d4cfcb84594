import { AsyncLocalStorage } from 'node:async_hooks';

/** Where a change comes from. */
export interface AuditSource {
  readonly address: string;
  readonly agent: string;
  readonly requestId: string;
}

/** What a request or a command has changed so far, for the audit log. */
export class AuditTrail {
  /** The acting account, if the caller is not authenticated: at a login, or with a token of a mail. */
  accountId: number | undefined;
  /** Whether a change without a named subject gets an entry, with the path of the request. */
  recordsUnnamed = true;
  /** The only inserted row, by table and id; `undefined` if there are several. */
  private inserted: { readonly table: string; readonly id: string } | undefined;
  private hasInserted = false;
  /** The ids in the path, by the names of their parameters. */
  private readonly ids = new Map<string, number>();
  private hasRecorded = false;
  private isReplay = false;
  private isClosed = false;

  /**
   * @param action such as `PATCH /v1/posts/:id`
   * @param subject the path of the resource, if none was named, by the id of the only inserted row
   * @param caller the authenticated account; null for a command
   * @param isSummary whether all changes together are one entry
   */
  constructor(
    public source: AuditSource,
    public action: string,
    private readonly subject: (insertedId: string | undefined) => string,
    private readonly caller: () => number | null | undefined,
    private readonly isSummary = false,
  ) {}

  /** The request is over: changes that it has started in the background are not recorded as its own. */
  close(): void {
    this.isClosed = true;
  }

  /** The request got the result of an earlier one with its idempotency key, and is no change by itself. */
  noteReplay(): void {
    this.isReplay = true;
  }

  /** Whether the request may have changed something outside of the database. */
  get mayHaveChanged(): boolean {
    return this.responsible !== undefined && !this.isReplay;
  }

  /** The responsible account; null for a command, `undefined` while it is unknown. */
  get responsible(): number | null | undefined {
    if (this.isClosed) return undefined;
    const caller = this.caller();
    return caller === undefined ? this.accountId : caller;
  }

  /** The id in a parameter of the path: `/v1/posts/007` refers to `/v1/posts/7`. */
  noteId(parameter: string, id: number): void {
    this.ids.set(parameter, id);
  }

  idOf(parameter: string): number | undefined {
    return this.ids.get(parameter);
  }

  /** A row was inserted. A retry inserts another row into the same table. */
  noteInsert(table: string, id: string | undefined): void {
    const isOnly = id !== undefined && (!this.hasInserted || this.inserted?.table === table);
    this.inserted = isOnly ? { table, id } : undefined;
    this.hasInserted = true;
  }

  /** The subjects of the entries of a change, by those that were named. */
  subjectsOf(named: readonly string[]): readonly string[] {
    if (named.length > 0 && !this.isSummary) return named;
    return this.hasRecorded || !this.recordsUnnamed ? [] : [this.subject(this.inserted?.id)];
  }

  /** The change and all inserts until now are in the log. */
  markRecorded(): void {
    this.hasRecorded = true;
    this.hasInserted = false;
    this.inserted = undefined;
  }
}

const trails = new AsyncLocalStorage<AuditTrail | undefined>();

export const runWithTrail = <T>(trail: AuditTrail, work: () => T): T => trails.run(trail, work);

/** Runs work that is not a change by the caller, such as counting failed logins. */
export const runWithoutTrail = <T>(work: () => T): T => trails.run(undefined, work);

export const currentTrail = (): AuditTrail | undefined => trails.getStore();

/** Sets the acting account, if the caller is not authenticated. */
export function auditAccount(id: number): void {
  const trail = currentTrail();
  if (trail) trail.accountId = id;
}

/** Omits address and client of the acting account from the log. */
export function auditAnonymously(): void {
  const trail = currentTrail();
  if (trail) trail.source = { ...trail.source, address: '', agent: '' };
}
