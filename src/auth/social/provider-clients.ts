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
import { AppError } from '../../common/errors/errors.js';
import { firstValue, type QueryParameters } from '../../common/http/query.js';
import { Config } from '../../config/config.js';
import type { SocialClient, SocialProviderName } from '../../config/social-providers.js';
import type { LoginFlow } from './login-flows.js';
import { providers } from './providers/index.js';
import { TIMEOUT } from './providers/open-id.js';
import type { SocialProfile, SocialProvider } from './providers/social-provider.js';

/** What a provider, or who passes for it, has said cannot be believed. All else means that it is not well. */
const UNBELIEVABLE = new Set([
  'OAUTH_INVALID_RESPONSE',
  'OAUTH_JSON_ATTRIBUTE_COMPARISON_FAILED',
  'OAUTH_JWT_CLAIM_COMPARISON_FAILED',
  'OAUTH_JWT_TIMESTAMP_CHECK_FAILED',
  'OAUTH_KEY_SELECTION_FAILED',
]);

interface Connection {
  readonly provider: SocialProvider;
  readonly client: SocialClient;
  readonly configuration: Configuration;
}

/** Speaks with the providers, by the authorization code flow with PKCE (RFC 6749, RFC 7636, OpenID Connect). */
@Injectable()
export class ProviderClients {
  private readonly logger = new Logger(ProviderClients.name);
  private readonly configurations = new Map<string, Promise<Configuration>>();

  constructor(private readonly config: Config) {}

  /** Names of those that are configured. */
  names(): string[] {
    return Object.keys(this.config.social.clients);
  }

  /** @throws AppError `NOT_FOUND` for one that nobody knows, `SERVICE_UNAVAILABLE` for one that is not configured */
  requireConfigured(name: string): SocialClient {
    if (!Object.hasOwn(providers, name)) throw new AppError('NOT_FOUND', 'Provider not found');
    const client = this.config.social.clients[name as SocialProviderName];
    if (!client) throw new AppError('SERVICE_UNAVAILABLE', 'This provider is not configured here');
    return client;
  }

  /**
   * Where someone shows the provider who they are.
   *
   * @param start called once it is clear that they can
   * @throws AppError as {@link connect}
   */
  async authorizationUrl(name: string, start: () => LoginFlow): Promise<string> {
    const { provider, configuration } = await this.connect(name);
    const { state, nonce, codeVerifier } = start();
    const url = buildAuthorizationUrl(configuration, {
      redirect_uri: this.redirectUri(name),
      scope: provider.scope,
      state,
      ...(provider.openId && { nonce }),
      code_challenge: await calculatePKCECodeChallenge(codeVerifier),
      code_challenge_method: 'S256',
    });
    return url.href;
  }

  /**
   * Who it is that the provider has sent back.
   *
   * @param query what came with them
   * @throws AppError `UNAUTHENTICATED` when the provider does not say so, or cannot be believed, and as
   * {@link connect}
   */
  async profile(
    name: string,
    query: QueryParameters,
    { state, nonce, codeVerifier }: LoginFlow,
  ): Promise<SocialProfile> {
    const url = new URL(this.redirectUri(name));
    for (const parameter of Object.keys(query)) {
      url.searchParams.set(parameter, firstValue(query, parameter)!);
    }
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

  /**
   * A provider that is away is asked again the next time.
   *
   * @throws AppError as {@link requireConfigured}, and `SERVICE_UNAVAILABLE` for one that does not respond
   */
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
    const isUnbelievable = error instanceof ClientError && UNBELIEVABLE.has(error.code ?? '');
    if (!isInvalidGrant && !isUnbelievable) return this.unavailable(name, error);
    // Either an attack or a mistake in the settings: worth a line, though it gets 401.
    if (isUnbelievable) this.logger.warn(`${name}: ${describe(error)}`);
    return new AppError('UNAUTHENTICATED', 'The provider did not confirm the login; start again');
  }

  /** What a provider has sent may hold tokens, and causes are logged: only words of the libraries go there. */
  private unavailable(name: string, error: unknown): AppError {
    return new AppError('SERVICE_UNAVAILABLE', 'The provider sent an unexpected response; retry later', {
      cause: new Error(`${name}: ${describe(error)}`),
    });
  }

  /** To the letter what the provider has on record. Not made of the request, which can say anything. */
  private redirectUri(name: string): string {
    return `${this.config.publicUrl}/auth/social/${name}/callback/`;
  }
}

/** Somebody waits for it: several requests to a provider may not take longer than one. */
async function inTime<T>(response: Promise<T>): Promise<T> {
  const { promise: timeout, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(() => reject(new Error('Too slow')), TIMEOUT * 1000);
  return Promise.race([response, timeout]).finally(() => clearTimeout(timer));
}

/** Words of the libraries, which hold no values: a parser's would quote what it could not read. */
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
