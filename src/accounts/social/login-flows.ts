import { type KeyObject, createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { Clock } from '../../platform/jobs/clock.js';
import { deriveKeys, type Keys } from '../../platform/config/derive-keys.js';
import { AppError } from '../../platform/http/errors/errors.js';
import { Cookie } from '../../platform/http/cookie.js';
import { Config } from '../../platform/config/config.js';
import { OneTimeSecrets } from '../one-time-secrets.js';

/** How long a login at the provider may take, in seconds. */
const LIFETIME = 600;

/** The end of the state of a flow that returns to the account page, which is known without its cookie, too. */
const RETURNS_TO_ACCOUNT = '.account';

export const WRONG_FLOW =
  'The login was not started in this browser, has expired, or was finished before; start again';

/** What a flow sends to the provider and checks in the callback. */
export interface LoginFlow {
  readonly state: string;
  /** OpenID Connect Core 1.0, section 3.1.2.1 */
  readonly nonce: string;
  /** PKCE, RFC 7636 */
  readonly codeVerifier: string;
  /** The login whose account gets the identity; undefined for a social login. */
  readonly linkTo: string | undefined;
  /** Of the client that may exchange the one-time code (S256, RFC 7636). */
  readonly codeChallenge: string | undefined;
  /** Whether the flow ends at the service's own account page; a login has a `codeChallenge` then. */
  readonly returnsToAccount: boolean;
}

/** The cookie of a flow: JSON in base64url. */
interface FlowContent extends FlowOptions {
  readonly random: string;
  /** In seconds since 1970. */
  readonly expires: number;
}

export type FlowOptions = Partial<Pick<LoginFlow, 'linkTo' | 'codeChallenge' | 'returnsToAccount'>>;

/** The cookie that binds a flow to its browser. */
@Injectable()
export class FlowCookie extends Cookie {
  constructor(config: Config) {
    super('social-login', LIFETIME, config);
  }
}

/**
 * Flows in progress at a provider. Each is bound to its browser by a cookie with a random
 * number; state, nonce and verifier are HMACs of it. The state, which comes back in the address, also
 * signs the cookie, so nothing is stored before the flow is finished.
 */
@Injectable()
export class LoginFlows {
  private readonly keys: Keys;

  constructor(
    config: Config,
    private readonly secrets: OneTimeSecrets,
    private readonly clock: Clock,
  ) {
    this.keys = deriveKeys(config, 'social-login');
  }

  /** @returns the value of the cookie as well */
  start(
    provider: string,
    { linkTo, codeChallenge, returnsToAccount = false }: FlowOptions,
  ): { flow: LoginFlow; cookie: string } {
    const expires = Math.floor(this.clock.now().getTime() / 1000) + LIFETIME;
    const random = randomBytes(16).toString('base64url');
    const content: FlowContent = { random, expires, linkTo, codeChallenge, returnsToAccount };
    const cookie = Buffer.from(JSON.stringify(content)).toString('base64url');
    return { flow: flowOf(this.keys.current, provider, cookie, content), cookie };
  }

  /** Whether the flow of a state returns to the account page; the state may be invented. */
  returnsToAccount(state: string): boolean {
    return state.endsWith(RETURNS_TO_ACCOUNT);
  }

  /**
   * The flow of a callback, which ends with it: the state is remembered until it expires.
   *
   * @param returnedState the state that the provider has sent back
   */
  async finish(provider: string, cookie: string, returnedState: string): Promise<LoginFlow> {
    // The state signs the cookie, so its content is what this service has written if the state is right.
    const content = contentOf(cookie);
    const expires = content?.expires ?? 0;
    const state = Buffer.from(returnedState);
    const flow = this.keys.accepted
      .map((key) => flowOf(key, provider, cookie, content))
      .find(({ state: right }) => {
        const expected = Buffer.from(right);
        return state.length === expected.length && timingSafeEqual(state, expected);
      });
    const isOpen = flow !== undefined && expires > this.clock.now().getTime() / 1000;
    if (isOpen && (await this.secrets.useUnstored('social-flow', flow.state, new Date(expires * 1000))))
      return flow;
    throw new AppError('MALFORMED_REQUEST', WRONG_FLOW);
  }
}

function flowOf(
  key: KeyObject,
  provider: string,
  cookie: string,
  { linkTo, codeChallenge, returnsToAccount = false }: FlowOptions = {},
): LoginFlow {
  const derive = (part: string) =>
    createHmac('sha256', key).update(`${part} ${provider} ${cookie}`).digest('base64url');
  return {
    state: derive('state') + (returnsToAccount ? RETURNS_TO_ACCOUNT : ''),
    nonce: derive('nonce'),
    codeVerifier: derive('verifier'),
    linkTo,
    codeChallenge,
    returnsToAccount,
  };
}

function contentOf(cookie: string): FlowContent | undefined {
  try {
    return (JSON.parse(Buffer.from(cookie, 'base64url').toString()) as FlowContent | null) ?? undefined;
  } catch {
    return undefined;
  }
}
