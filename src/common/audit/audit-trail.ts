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
  /** Whether a change that nobody has named with {@link auditSubject} gets an entry of its own. */
  recordsUnnamed = true;
  private readonly named = new Set<string>();
  private readonly recorded = new Set<string>();
  private hasRecorded = false;
  private isClosed = false;

  /**
   * @param action what is done, such as `PATCH /v1/posts/:id`
   * @param subject what is changed, as far as is known by now, unless someone names it
   * @param caller who is authenticated; null for whoever runs a command
   */
  constructor(
    readonly source: AuditSource,
    public action: string,
    private readonly subject: () => string,
    private readonly caller: () => number | null | undefined,
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

  about(subject: string): void {
    this.named.add(subject);
  }

  /** What was changed, and is not in the log yet. */
  unrecorded(): string[] {
    const named = [...this.named].filter((subject) => !this.recorded.has(subject));
    return named.length > 0 || this.hasRecorded || !this.recordsUnnamed ? named : [this.subject()];
  }

  markRecorded(subjects: readonly string[]): void {
    for (const subject of subjects) this.recorded.add(subject);
    this.hasRecorded ||= subjects.length > 0;
  }
}

const trails = new AsyncLocalStorage<AuditTrail>();

export const runWithTrail = <T>(trail: AuditTrail, work: () => T): T => trails.run(trail, work);

export const currentTrail = (): AuditTrail | undefined => trails.getStore();

/**
 * Names what the request under way changes, by the path of the resource: `/v1/posts/7`. Only where the path of the
 * request or its `Location` does not say it, and best in the unit of work of the change. Each subject is one entry.
 */
export const auditSubject = (path: string): void => currentTrail()?.about(path);

/** Says which account acts, where no caller is authenticated. */
export function auditAccount(id: number): void {
  const trail = currentTrail();
  if (trail) trail.accountId = id;
}
