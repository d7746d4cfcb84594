import { Injectable, Logger } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import { toAppError } from '../http/errors/to-app-error.js';
import { BackgroundTasks } from '../jobs/background-task.js';
import { Clock } from '../jobs/clock.js';
import { Authenticator } from './authenticator.js';
import { type Principal, principalOf } from '../http/principal.js';

/** The interval between two checks, in milliseconds: streams of an ended login end within 5 seconds. */
const INTERVAL = 3000;

/** What a credential allows now. */
export interface Rights {
  readonly accountId: number;
  /** SQLite has no booleans. */
  readonly isStaff: boolean | number;
}

/** A kind of credential whose validity is read for many at once. */
interface WatchedKind {
  /** The id of the credential of a caller; `undefined` for other kinds. */
  readonly idOf: (principal: Principal) => unknown;
  /** The rights of the credentials that are valid, by their ids, in one statement. */
  readonly rightsOf: (ids: readonly unknown[]) => Promise<ReadonlyMap<unknown, Rights>>;
}

interface Watched {
  readonly request: FastifyRequest;
  readonly principal: Principal;
  readonly end: () => void;
}

/** Ends streams within seconds after their token, session or account has ended. */
@Injectable()
export class CredentialWatch {
  private readonly logger = new Logger(CredentialWatch.name);
  private readonly kinds: WatchedKind[] = [];
  private readonly watched = new Set<Watched>();

  constructor(
    private readonly authenticator: Authenticator,
    private readonly clock: Clock,
    tasks: BackgroundTasks,
  ) {
    const failure = 'The credentials of open streams could not be checked';
    const run = () => this.checkAll();
    tasks.repeat({ logger: this.logger, failure, interval: INTERVAL, run });
  }

  /** Registers a kind of credential. Callers with another one are authenticated again, each by itself. */
  register(kind: WatchedKind): void {
    this.kinds.push(kind);
  }

  /**
   * Calls `end` once, as soon as the request would be rejected, or would have other rights. Without an account nothing
   * is watched.
   *
   * @param request after its authentication
   * @returns a function that ends the watch
   */
  watch(request: FastifyRequest, end: () => void): () => void {
    const principal = principalOf(request);
    if (!principal) return () => undefined;
    const watched = { request, principal, end };
    this.watched.add(watched);
    return () => void this.watched.delete(watched);
  }

  /** Ends what has lost its credential. It is called regularly. */
  async checkAll(): Promise<void> {
    const others = new Set(this.watched);
    for (const kind of this.kinds) {
      const ofKind = [...others].filter(({ principal }) => kind.idOf(principal) !== undefined);
      for (const each of ofKind) others.delete(each);
      if (ofKind.length > 0) await this.checkKind(kind, ofKind);
    }
    for (const each of others) if (!(await this.isAuthenticated(each))) this.end(each);
  }

  private async checkKind({ idOf, rightsOf }: WatchedKind, watched: readonly Watched[]): Promise<void> {
    let rights: ReadonlyMap<unknown, Rights>;
    try {
      rights = await rightsOf([...new Set(watched.map(({ principal }) => idOf(principal)))]);
    } catch {
      // A database outage does not end a credential.
      return;
    }
    const now = this.clock.now();
    for (const each of watched) {
      const { account, tokenExpiresAt } = each.principal;
      const isExpired = tokenExpiresAt !== undefined && tokenExpiresAt <= now;
      if (isExpired || !isSame(rights.get(idOf(each.principal)), account)) this.end(each);
    }
  }

  private end(watched: Watched): void {
    if (!this.watched.delete(watched)) return;
    try {
      watched.end();
    } catch (error) {
      // The watch continues for the others.
      this.logger.error({
        msg: 'A stream whose credential became invalid could not be closed',
        err: error,
      });
    }
  }

  private async isAuthenticated({ request, principal: { account } }: Watched): Promise<boolean> {
    try {
      // A copy, because the request keeps the account that it was accepted with.
      const principal = await this.authenticator.authenticateAgain(Object.create(request) as FastifyRequest);
      return principal?.account.id === account.id && principal.account.isStaff === account.isStaff;
    } catch (error) {
      return toAppError(error).getStatus() >= 500;
    }
  }
}

const isSame = (rights: Rights | undefined, { id, isStaff }: Principal['account']): boolean =>
  rights?.accountId === id && Boolean(rights.isStaff) === isStaff;
