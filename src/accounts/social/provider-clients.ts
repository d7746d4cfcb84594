import { Injectable, Logger } from '@nestjs/common';
import {
  authorizationCodeGrant,
  AuthorizationResponseError,
  buildAuthorizationUrl,
  calculatePKCECodeChallenge,
  ClientError,
  type Configuration,
  ResponseBodyError,
} from 'openid-client';
import { AppError } from '../../platform/http/errors/errors.js';
import { Config } from '../../platform/config/config.js';
import type { SocialClient, SocialProviderName } from '../../platform/config/social.js';
import { type FlowOptions, type LoginFlow, LoginFlows } from './login-flows.js';
import { providers } from './providers/index.js';
import { TIMEOUT } from './providers/open-id.js';
import type { SocialProfile, SocialProvider } from './providers/social-provider.js';

/** Errors that mean that a response cannot be trusted. All others mean that the provider is unavailable. */
const INVALID_RESPONSE_CODES = new Set([
  'OAUTH_INVALID_RESPONSE',
  'OAUTH_JSON_ATTRIBUTE_COMPARISON_FAILED',
  'OAUTH_JWT_CLAIM_COMPARISON_FAILED',
  'OAUTH_JWT_TIMESTAMP_CHECK_FAILED',
  'OAUTH_KEY_SELECTION_FAILED',
]);

const NO_RESPONSE = 'The provider does not respond; retry later';
const UNEXPECTED_RESPONSE = 'The provider sent an unexpected response; retry later';

/** A login that a browser continues at a provider. */
export interface StartedFlow {
  /** Of the provider's login page. */
  readonly url: string;
  /** The content of the flow's cookie. */
  readonly cookie: string;
}

interface Connection {
  readonly provider: SocialProvider;
  readonly client: SocialClient;
  readonly configuration: Configuration;
}

/** Clients of the providers, by the authorization code flow with PKCE (RFC 6749, RFC 7636, OpenID Connect). */
@Injectable()
export class ProviderClients {
  private readonly logger = new Logger(ProviderClients.name);
  private readonly configurations = new Map<string, Promise<Configuration>>();

  constructor(
    private readonly config: Config,
    private readonly flows: LoginFlows,
  ) {}

  /** Names of the configured providers. */
  names(): string[] {
    return Object.keys(this.config.social.clients);
  }

  requireConfigured(name: string): SocialClient {
    if (!Object.hasOwn(providers, name)) throw new AppError('NOT_FOUND', 'Provider not found');
    const client = this.config.social.clients[name as SocialProviderName];
    if (!client) throw new AppError('SERVICE_UNAVAILABLE', 'This provider is not configured here');
    return client;
  }

  /** The address that a browser returns to after a flow, if a front end is configured. */
  frontEnd({ returnsToAccount }: Pick<LoginFlow, 'returnsToAccount'>): string | undefined {
    const { publicUrl, social } = this.config;
    return returnsToAccount ? `${publicUrl}/account/` : social.redirect;
  }

  /** Starts a flow at a provider. */
  async start(name: string, options: FlowOptions): Promise<StartedFlow> {
    const { flow, cookie } = this.flows.start(name, options);
    const { state, nonce, codeVerifier } = flow;
    const { provider, configuration } = await this.connect(name);
    const url = buildAuthorizationUrl(configuration, {
      redirect_uri: this.redirectUri(name),
      scope: provider.scope,
      state,
      ...(provider.openId && { nonce }),
      code_challenge: await calculatePKCECodeChallenge(codeVerifier),
      code_challenge_method: 'S256',
    });
    return { url: url.href, cookie };
  }

  /** The flow of a callback. @param cookie of the flow @param parameters of the callback */
  flowOf(name: string, cookie: string, parameters: URLSearchParams): Promise<LoginFlow> {
    return this.flows.finish(name, cookie, parameters.get('state') ?? '');
  }

  /** Whether a callback returns to the account page. It may be invented. */
  returnsToAccount(parameters: URLSearchParams): boolean {
    return this.flows.returnsToAccount(parameters.get('state') ?? '');
  }

  /** The profile of the user that the provider has sent back. @param parameters of the callback */
  async profile(
    name: string,
    parameters: URLSearchParams,
    { state, nonce, codeVerifier }: LoginFlow,
  ): Promise<SocialProfile> {
    const url = new URL(this.redirectUri(name));
    for (const [key, value] of parameters) url.searchParams.set(key, value);
    const ask = async () => {
      const { provider, client, configuration } = await this.connect(name);
      const tokens = await authorizationCodeGrant(configuration, url, {
        pkceCodeVerifier: codeVerifier,
        expectedState: state,
        ...(provider.openId && { expectedNonce: nonce, idTokenExpected: true }),
      });
      return provider.identify(configuration, tokens, client);
    };
    try {
      return await inTime(ask());
    } catch (error) {
      throw error instanceof AppError ? error : this.rejection(name, error);
    }
  }

  /** A provider that was unavailable is tried again by the next call. */
  private async connect(name: string): Promise<Connection> {
    const client = this.requireConfigured(name);
    const provider = providers[name as SocialProviderName] as SocialProvider;
    let configuration = this.configurations.get(name);
    if (!configuration) this.configurations.set(name, (configuration = provider.configure(client)));
    try {
      return { provider, client, configuration: await configuration };
    } catch (error) {
      this.configurations.delete(name);
      throw this.unavailable(name, error);
    }
  }

  private rejection(name: string, error: unknown): AppError {
    if (error instanceof AuthorizationResponseError) {
      return new AppError('UNAUTHENTICATED', 'The provider rejected the login');
    }
    const isInvalidGrant = error instanceof ResponseBodyError && error.error === 'invalid_grant';
    const isInvalidResponse = error instanceof ClientError && INVALID_RESPONSE_CODES.has(error.code ?? '');
    if (!isInvalidGrant && !isInvalidResponse) return this.unavailable(name, error);
    // Either an attack or wrong settings: it is logged, though the client gets 401.
    if (isInvalidResponse) this.logger.warn(`${name}: ${describe(error)}`);
    return new AppError('UNAUTHENTICATED', 'The provider did not confirm the login; start again');
  }

  /** Responses of providers may hold tokens, and causes are logged: only messages of the libraries are kept. */
  private unavailable(name: string, error: unknown): AppError {
    return new AppError('SERVICE_UNAVAILABLE', isSilent(error) ? NO_RESPONSE : UNEXPECTED_RESPONSE, {
      cause: new Error(`${name}: ${describe(error)}`),
    });
  }

  /** The path that starts a login, below the path of `PUBLIC_URL`. */
  pathOf(name: string): string {
    return `${this.config.basePath}/auth/social/${name}/`;
  }

  /** Exactly the address that is registered at the provider. It does not depend on the request, which may be forged. */
  private redirectUri(name: string): string {
    return `${this.config.publicUrl}/auth/social/${name}/callback/`;
  }
}

/** A client is waiting: all requests to a provider together may take only as long as one. */
async function inTime<T>(response: Promise<T>): Promise<T> {
  const { promise: timeout, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(() => reject(new DOMException('Timed out', 'TimeoutError')), TIMEOUT * 1000);
  return Promise.race([response, timeout]).finally(() => clearTimeout(timer));
}

/** Whether there was no response at all: `fetch` then rejects with a TypeError. */
const isSilent = (error: unknown): boolean =>
  error instanceof TypeError ||
  (error as Error).name === 'TimeoutError' ||
  (error as { code?: unknown }).code === 'OAUTH_TIMEOUT';

/** Only messages of libraries without values: a parser's message quotes its input. */
function describe(error: unknown): string {
  const { name, message, error: rejection, code, cause } = error as Error & Record<string, unknown>;
  const inner = (cause ?? {}) as Record<string, unknown>;
  const words = [
    name === 'SyntaxError' ? name : message,
    rejection,
    inner['name'] === 'OperationProcessingError' ? inner['message'] : inner['code'],
    code,
  ];
  return words.filter((word) => typeof word === 'string').join(': ');
}
