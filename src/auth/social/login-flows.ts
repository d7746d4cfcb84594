import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { Clock } from '../../common/clock/clock.js';
import { deriveKey } from '../../common/crypto/derive-key.js';
import { AppError } from '../../common/errors/errors.js';
import { Cookie } from '../../common/http/cookie.js';
import { firstValue, type QueryParameters } from '../../common/http/query.js';
import { Config } from '../../config/config.js';

/** How long someone may take at the provider, in seconds. */
const LIFETIME = 600;

const COOKIE = /^[\w-]{22}\.(\d{1,12})$/;

/** What is given to a provider on the way there, and asked for on the way back. */
export interface LoginFlow {
  readonly state: string;
  /** OpenID Connect Core 1.0, section 3.1.2.1 */
  readonly nonce: string;
  /** PKCE, RFC 7636 */
  readonly codeVerifier: string;
}

/**
 * Logins that are under way at a provider, each bound to the browser that started it: by a cookie with a random
 * number, of which state, nonce and verifier are HMACs. So the state, which comes back through the address, is
 * also the signature of the cookie, and nothing is stored.
 */
@Injectable()
export class LoginFlows {
  private readonly cookie: Cookie;
  private readonly key: Buffer;

  constructor(
    config: Config,
    private readonly clock: Clock,
  ) {
    this.cookie = new Cookie('social-login', LIFETIME, config);
    this.key = deriveKey(config.jwtSecret, 'social-login');
  }

  start(provider: string, reply: FastifyReply): LoginFlow {
    const expires = Math.floor(this.clock.now().getTime() / 1000) + LIFETIME;
    const value = `${randomBytes(16).toString('base64url')}.${expires}`;
    this.cookie.write(reply, value);
    return this.flow(provider, value);
  }

  /**
   * The flow that comes back; its cookie is good for nothing more.
   *
   * @throws AppError `MALFORMED_REQUEST` when it is not one that this browser has started a moment ago
   */
  finish(provider: string, request: FastifyRequest, reply: FastifyReply): LoginFlow {
    const value = this.cookie.read(request) ?? '';
    this.cookie.clear(reply);
    const expires = Number(COOKIE.exec(value)?.[1] ?? 0);
    const flow = this.flow(provider, value);
    const state = Buffer.from(firstValue(request.query as QueryParameters, 'state') ?? '');
    const expected = Buffer.from(flow.state);
    const isOurs = state.length === expected.length && timingSafeEqual(state, expected);
    if (isOurs && expires > this.clock.now().getTime() / 1000) return flow;
    throw new AppError(
      'MALFORMED_REQUEST',
      'This login was not started in this browser, or too long ago; please start again',
    );
  }

  private flow(provider: string, value: string): LoginFlow {
    const derive = (part: string) =>
      createHmac('sha256', this.key).update(`${part} ${provider} ${value}`).digest('base64url');
    return { state: derive('state'), nonce: derive('nonce'), codeVerifier: derive('verifier') };
  }
}
