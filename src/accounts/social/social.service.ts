import { Injectable, Logger } from '@nestjs/common';
import { ApiProperty, ApiSchema } from '@nestjs/swagger';
import { type Principal, type RecentInput } from '../../platform/access/index.js';
import { type ClientInfo, currentContext } from '../../platform/http/request-context.js';
import { AppError } from '../../platform/http/errors/errors.js';
import { toAppError } from '../../platform/http/errors/to-app-error.js';
import { LoginSteps, SecondStepRequired } from '../login/login-steps.js';
import { type TokenPair, TokensService } from '../tokens/tokens.service.js';
import { IdentitiesService } from './identities.service.js';
import { type IdentityView, toIdentityView } from './identity.view.js';
import { LoginCodes } from './login-codes.js';
import type { LoginFlow } from './login-flows.js';
import { ProviderClients, type StartedFlow } from './provider-clients.js';
import { requireSubject, SocialAccounts } from './social-accounts.js';
import type { ExchangeInput } from './social.input.js';

/** How a login starts. */
export interface StartQuery {
  readonly codeChallenge?: string | undefined;
  readonly method?: string | undefined;
  readonly returnTo?: string | undefined;
  /** Whether the response is shown to a person. */
  readonly acceptsHtml: boolean;
}

/** The address that a browser goes to. */
export interface Redirected {
  readonly redirectTo: string;
}

/** What a browser brings back from a provider. */
export interface Callback {
  readonly cookie: string;
  readonly parameters: URLSearchParams;
  readonly client: ClientInfo;
  /** Whether the response is shown to a person. */
  readonly acceptsHtml: boolean;
}

/**
 * What a finished login returns: tokens, what the second step needs, the identity that was linked, or the address of
 * the front end.
 */
export type Finished = TokenPair | SecondStepRequired | { readonly data: IdentityView } | Redirected;

/** A provider in the list. */
@ApiSchema({ name: 'Provider' })
export class ProviderView {
  @ApiProperty({ example: 'google' })
  readonly name!: string;

  /** Browsers navigate to it; scripts cannot fetch it. */
  @ApiProperty({ description: 'The address that starts a login.', example: '/auth/social/google/' })
  readonly url!: string;
}

/** A SHA-256 in base64url (RFC 7636, section 4.2). */
const CODE_CHALLENGE = /^[\w-]{43}$/;

export const WRONG_CHALLENGE =
  'Send a code_challenge of 43 characters, with the code_challenge_method S256, and its code_verifier in the exchange';

/** Logins with other providers, from the start to the tokens of this service. */
@Injectable()
export class SocialService {
  private readonly logger = new Logger(SocialService.name);

  constructor(
    private readonly providers: ProviderClients,
    private readonly socialAccounts: SocialAccounts,
    private readonly identities: IdentitiesService,
    private readonly steps: LoginSteps,
    private readonly codes: LoginCodes,
    private readonly tokens: TokensService,
  ) {}

  list(): ProviderView[] {
    return this.providers.names().map((name) => ({ name, url: this.providers.pathOf(name) }));
  }

  /**
   * @param codeChallenge of a client that gets a one-time code (S256, RFC 7636); it needs the verifier to exchange it
   * @param returnTo `account` for the service's own account page, which always sends a challenge; anything else is ignored
   * @returns the address of the account page with the code of an error, for a browser that comes from there
   */
  async start(provider: string, query: StartQuery): Promise<StartedFlow | Redirected> {
    const returnsToAccount = query.returnTo === 'account';
    return this.orReturn({ ...query, returnsToAccount }, () =>
      this.startFlow(provider, query, returnsToAccount),
    );
  }

  /** Starts to link an identity. @param returnTo as for {@link start} */
  async startLink(
    provider: string,
    caller: Principal,
    input: RecentInput,
    { client, returnTo }: { client: ClientInfo; returnTo: string | undefined },
  ): Promise<StartedFlow> {
    this.providers.requireConfigured(provider);
    return this.identities.startLink(caller, input, client, (linkTo) =>
      this.providers.start(provider, { linkTo, returnsToAccount: returnTo === 'account' }),
    );
  }

  requireConfigured(provider: string): void {
    this.providers.requireConfigured(provider);
  }

  /** Finishes a login or a link. A browser on its way to the account page gets the code of an error there. */
  async finish(provider: string, callback: Callback): Promise<Finished> {
    const { cookie, parameters, acceptsHtml } = callback;
    const returnsToAccount = this.providers.returnsToAccount(parameters);
    return this.orReturn({ returnsToAccount, acceptsHtml }, async () => {
      this.providers.requireConfigured(provider);
      const flow = await this.providers.flowOf(provider, cookie, parameters);
      return this.complete(provider, flow, callback);
    });
  }

  /** Brings a person whose flow began at the account page back to it when the work fails. */
  private async orReturn<T>(
    { returnsToAccount, acceptsHtml }: { returnsToAccount: boolean; acceptsHtml: boolean },
    work: () => Promise<T>,
  ): Promise<T | Redirected> {
    try {
      return await work();
    } catch (thrown) {
      if (!returnsToAccount || !acceptsHtml) throw thrown;
      const error = toAppError(thrown);
      // The filter of errors logs those that are sent.
      const level = error.code === 'INTERNAL_ERROR' ? 'error' : 'warn';
      if (error.cause) this.logger[level]({ requestId: currentContext()?.id, err: error.cause });
      return {
        redirectTo: withParameter(this.providers.frontEnd({ returnsToAccount })!, 'error', error.code),
      };
    }
  }

  private async startFlow(
    provider: string,
    { codeChallenge, method = 'S256' }: StartQuery,
    returnsToAccount: boolean,
  ): Promise<StartedFlow> {
    this.providers.requireConfigured(provider);
    const redirect = this.providers.frontEnd({ returnsToAccount: false });
    const isNeeded = returnsToAccount || (redirect !== undefined && !/^https?:/i.test(redirect));
    const isRight = codeChallenge === undefined ? !isNeeded : CODE_CHALLENGE.test(codeChallenge);
    if (!isRight || method !== 'S256') throw new AppError('MALFORMED_REQUEST', WRONG_CHALLENGE);
    return this.providers.start(provider, { codeChallenge, returnsToAccount });
  }

  private async complete(
    provider: string,
    flow: LoginFlow,
    { parameters, client }: Callback,
  ): Promise<Finished> {
    const profile = await this.providers.profile(provider, parameters, flow);
    const redirect = this.providers.frontEnd(flow);
    if (flow.linkTo !== undefined) {
      requireSubject(profile);
      const identity = await this.identities.link(flow.linkTo, provider, profile.subject);
      if (redirect === undefined) return { data: toIdentityView(identity) };
      return { redirectTo: withParameter(redirect, 'linked', provider) };
    }
    const account = await this.socialAccounts.find(provider, profile);
    // The address of a redirect may be read by others.
    const codeChallenge = redirect === undefined ? undefined : flow.codeChallenge;
    // `SocialAccounts` has checked who owns the address.
    const next = await this.steps.after(account, { codeChallenge, acceptsUnverified: true });
    if (next instanceof SecondStepRequired) {
      if (redirect === undefined) return next;
      return { redirectTo: withParameter(redirect, 'mfa_token', next.mfa_token) };
    }
    if (redirect === undefined) return this.tokens.open(next, client);
    const code = await this.codes.issue(next.account, flow.codeChallenge);
    return { redirectTo: withParameter(redirect, 'code', code) };
  }

  async exchange(input: ExchangeInput, client: ClientInfo): Promise<TokenPair> {
    return this.codes.redeem(input, (authenticated) => this.tokens.open(authenticated, client));
  }
}

/** The address of the front end, with one more parameter. */
function withParameter(address: string, parameter: string, value: string): string {
  const url = new URL(address);
  url.searchParams.set(parameter, value);
  return url.href;
}
