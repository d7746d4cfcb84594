import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { Repository } from 'typeorm';
import { currentContext, type RequestContext } from '../http/request-context.js';
import { Clock } from '../jobs/clock.js';
import { Transactions } from '../database/transactions.js';
import { AuditEntry } from './audit-entry.entity.js';
import { CommittedEvents } from './committed-events.js';
import type { NewEvent } from './define-events.js';
import { EventAppender } from './event-appender.js';
import { UnrecordedChanges } from './unrecorded-changes.js';

/** The maximum length of a path in the audit log, in characters. */
const MAX_SUBJECT = 500;

/** A change of something that has no events. */
interface PlainChange {
  /** The path of what was changed; by default that of the request, for what people do to their own accounts. */
  readonly subject?: string;
  /** The acting account, if the request has no credential: at a login, or with the token of a mail. */
  readonly actor?: number;
}

/** Who makes a change, and from where. */
type Origin = Pick<AuditEntry, 'actorId' | 'action' | 'address' | 'agent' | 'requestId'> & {
  readonly path: string;
};

/** Records changes in their transaction: the event, and the entry of the audit log. No change commits without them. */
@Injectable()
export class Changes {
  private command: Origin | undefined;

  constructor(
    @InjectRepository(AuditEntry) private readonly entries: Repository<AuditEntry>,
    private readonly transactions: Transactions,
    private readonly appender: EventAppender,
    private readonly clock: Clock,
    private readonly committed: CommittedEvents,
    private readonly unrecorded: UnrecordedChanges,
  ) {}

  /**
   * Records a change in the current unit of work, after its rows were written. An entry of the audit log exists only for
   * changes by an account or by a command: not for those of callers without a credential, nor of the service itself.
   *
   * @param change an event of the resource, or its path
   * @throws Error outside of a unit of work, where a crash could separate the record from its change
   */
  async record(change: NewEvent | PlainChange = {}): Promise<void> {
    this.requireUnitOfWork();
    if ('type' in change) await this.recordEvent(change);
    const { subject, actor } = change as PlainChange;
    const context = currentContext();
    if (context && actor !== undefined) context.actor = actor;
    const origin = this.command ?? (context && originOf(context));
    if (!origin) return;
    const { path, ...who } = origin;
    await this.entries.insert({
      ...who,
      createdAt: this.clock.now(),
      subject: (subject ?? path).slice(0, MAX_SUBJECT),
    });
  }

  private async recordEvent(event: NewEvent): Promise<void> {
    const { sql, parameters } = this.appender.insertion([event], this.clock.now().toISOString());
    await this.transactions.execute(sql, parameters);
    this.unrecorded.markRecorded();
    // For listeners in this process; all other consumers read the table.
    this.transactions.onCommit(() => this.committed.send([event]));
  }

  /** Makes all changes of this process those of a command. @param operator the user of the system who runs it */
  recordAsCommand(name: string, operator: string): void {
    const action = `command ${name}`;
    this.command = { actorId: null, action, address: '', agent: operator, requestId: '', path: name };
  }

  private requireUnitOfWork(): void {
    if (this.transactions.current) return;
    throw new Error('Changes are recorded with their rows: call record() within Transactions.run()');
  }
}

/** The current request as an origin; `undefined` without a known account. */
function originOf(context: RequestContext): Origin | undefined {
  const { id, accountId: actorId, client, request } = context;
  if (actorId === undefined) return undefined;
  const action = context.action ?? `${request.method} ${request.routeOptions.url}`;
  return { actorId, action, ...client, requestId: id, path: pathOf(request) };
}

/** A parameter of a route, such as `:id`, `:id(^\\d+$)` or `:id?`, or the rest of a path. */
const PARAMETER = /:(\w+)(?:\([^/]*\))?\??|\*$/g;

/** The canonical path, of the route and its parameters: a client may write it in many ways, such as `/auth/%6de`. */
function pathOf({ params, routeOptions }: RequestContext['request']): string {
  const values = params as Readonly<Record<string, string | undefined>>;
  return (routeOptions.url ?? '')
    .replace(/(?<=.)\/$/, '')
    .replace(PARAMETER, (_, name: string = '*') =>
      (values[name] ?? '').split('/').map(encodeURIComponent).join('/'),
    );
}
