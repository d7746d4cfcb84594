import { Injectable, Logger, type OnApplicationBootstrap, type OnApplicationShutdown } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import { toAppError } from '../../common/errors/to-app-error.js';
import type { Account } from '../accounts/index.js';
import { Authenticator } from './authenticator.js';

/** The interval between two checks, in milliseconds: streams of an ended login end within 5 seconds. */
const INTERVAL = 3000;

/** How many credentials one step checks: a thousand at once would delay requests. */
const AT_A_TIME = 10;

interface Watched {
  readonly request: FastifyRequest;
  readonly account: Account;
  readonly end: () => void;
}

/** Ends streams and WebSockets within seconds after their token, session or account has ended. */
@Injectable()
export class CredentialWatch implements OnApplicationBootstrap, OnApplicationShutdown {
  private readonly logger = new Logger(CredentialWatch.name);
  private readonly watched = new Set<Watched>();
  private timer: NodeJS.Timeout | undefined;
  private isChecking = false;

  constructor(private readonly authenticator: Authenticator) {}

  onApplicationBootstrap(): void {
    this.timer = setInterval(() => void this.checkAll(), INTERVAL).unref();
  }

  onApplicationShutdown(): void {
    clearInterval(this.timer);
  }

  /**
   * Calls `end` once, as soon as the request would be rejected, or would have other rights. Without an account nothing
   * is watched.
   *
   * @param request after its authentication
   * @returns a function that ends the watch
   */
  watch(request: FastifyRequest, end: () => void): () => void {
    const { user: account } = request;
    if (!account) return () => undefined;
    const watched = { request, account, end };
    this.watched.add(watched);
    return () => void this.watched.delete(watched);
  }

  private async checkAll(): Promise<void> {
    if (this.isChecking) return;
    this.isChecking = true;
    try {
      const known = [...this.watched];
      for (let n = 0; n < known.length; n += AT_A_TIME)
        await Promise.all(known.slice(n, n + AT_A_TIME).map((watched) => this.check(watched)));
    } finally {
      this.isChecking = false;
    }
  }

  private async check(watched: Watched): Promise<void> {
    if ((await this.isGood(watched)) || !this.watched.delete(watched)) return;
    try {
      watched.end();
    } catch (error) {
      // The watch continues for the others.
      this.logger.error({
        msg: 'A stream or WebSocket whose credential became invalid could not be closed',
        err: error,
      });
    }
  }

  private async isGood({ request, account }: Watched): Promise<boolean> {
    try {
      // A copy, because the request keeps the account that it was accepted with.
      const principal = await this.authenticator.authenticate(Object.create(request) as FastifyRequest);
      return principal?.account.id === account.id && principal.account.isStaff === account.isStaff;
    } catch (error) {
      // A database outage does not end a credential.
      return toAppError(error).status >= 500;
    }
  }
}
