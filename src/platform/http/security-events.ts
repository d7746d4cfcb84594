import { createHmac } from 'node:crypto';
import { Injectable, Logger } from '@nestjs/common';
import { Counter, Registry } from 'prom-client';
import { Config } from '../config/config.js';
import { deriveKeys, type Keys } from '../config/derive-keys.js';

/** The security events of the service; `security_events_total` has one time series for each. */
export type SecurityEvent =
  | 'login_failed'
  | 'login_throttled'
  | 'code_failed'
  | 'refresh_reused'
  | 'access_denied'
  | 'csrf_failed'
  | 'reset_requested'
  | 'factor_changed'
  | 'api_key_created'
  | 'api_key_removed'
  | 'api_key_refused'
  | 'passkey_changed'
  | 'identity_changed'
  | 'password_changed'
  | 'account_changed'
  | 'logins_ended';

/** Whose event it is: an account, or an e-mail that may have none. */
export interface SecuritySubject {
  readonly accountId?: number | undefined;
  readonly email?: string | undefined;
  /** What happened, in a few words that contain no input. */
  readonly reason?: string;
}

/** Where a request came from; without a request, such as in a command, `undefined`. */
export type RequestSource = () => { readonly address: string; readonly agent: string } | undefined;

/**
 * Records security events in the log and as a metric (OWASP ASVS 5.0, chapter 16). An entry has the client and the
 * account; of an e-mail without an account only a keyed hash, and never a password, token or code.
 */
@Injectable()
export class SecurityEvents {
  private readonly logger = new Logger('Security');
  private readonly counter: Counter<'event'>;
  private readonly keys: Keys;

  constructor(
    config: Config,
    private readonly source: RequestSource,
    registry: Registry,
  ) {
    this.keys = deriveKeys(config, 'security-events');
    this.counter = new Counter({
      name: 'security_events_total',
      help: 'Failed logins, refused access, and changes of credentials',
      labelNames: ['event'],
      registers: [registry],
    });
  }

  record(event: SecurityEvent, { accountId, email, reason }: SecuritySubject = {}): void {
    this.counter.inc({ event });
    this.logger.log({
      msg: 'Security event',
      event,
      ...(reason !== undefined && { reason }),
      ...this.source(),
      ...(accountId !== undefined ? { accountId } : email !== undefined && { emailHash: this.hash(email) }),
    });
  }

  /** The same for all spellings that log in to one account, if the caller passes the key of the address. */
  private hash(email: string): string {
    return createHmac('sha256', this.keys.current).update(email).digest('base64url');
  }
}
