import { isIP } from 'node:net';
import { Injectable } from '@nestjs/common';
import { AppError } from '../../platform/http/errors/errors.js';
import { Config } from '../../platform/config/config.js';

/** The identity of this service for authenticators (WebAuthn Level 3, section 4). */
@Injectable()
export class RelyingParty {
  readonly name = 'Posts API';
  /** EdDSA, ES256 and RS256 (RFC 9053, RFC 8812): what authenticators in use have. */
  readonly algorithms = [-8, -7, -257];
  private readonly domain: string | undefined;
  /** The origins of pages that may use passkeys. */
  readonly origins: readonly string[];

  constructor({ publicUrl, corsOrigins, production }: Config) {
    const url = new URL(publicUrl);
    // WebAuthn accepts no address as the id of a relying party.
    const isAddress = isIP(url.hostname.replace(/^\[|\]$/g, '')) !== 0;
    if (isAddress) url.hostname = 'localhost';
    this.domain = isAddress && production ? undefined : url.hostname;
    this.origins = [url.origin, ...(corsOrigins === '*' ? [] : corsOrigins)];
  }

  /** @throws AppError `SERVICE_UNAVAILABLE` in production, if `PUBLIC_URL` has no domain */
  get id(): string {
    if (this.domain === undefined) throw new AppError('SERVICE_UNAVAILABLE', NO_DOMAIN);
    return this.domain;
  }
}

export const NO_DOMAIN = 'Passkeys need a PUBLIC_URL with a domain name, which this service does not have';
