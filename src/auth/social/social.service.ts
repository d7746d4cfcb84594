import { Injectable } from '@nestjs/common';
import { ApiProperty, ApiSchema } from '@nestjs/swagger';
import type { ClientInfo } from '../../common/http/client.js';
import { Config } from '../../config/config.js';
import { tokenNotValid } from '../access/index.js';
import { AccountsService } from '../accounts/index.js';
import { type TokenPair, TokensService } from '../tokens/index.js';
import { LoginCodes } from './login-codes.js';
import { LoginFlows } from './login-flows.js';
import { ProviderClients } from './provider-clients.js';
import { type IdentityView, toIdentityView } from './identity.view.js';
import { SocialAccounts } from './social-accounts.js';
import { SocialLinks, type StartedFlow } from './social-links.js';

/** What a browser brings back from a provider. */
export interface Callback {
  readonly cookie: string;
  readonly parameters: URLSearchParams;
  readonly client: ClientInfo;
}

/** What a finished login returns: tokens, the identity that was linked, or the address of the front end. */
export type Finished = TokenPair | { readonly data: IdentityView } | { readonly redirectTo: string };

/** A provider in the list. */
@ApiSchema({ name: 'Provider' })
export class ProviderView {
  @ApiProperty({ example: 'google' })
  readonly name!: string;

  /** Browsers navigate to it; scripts cannot fetch it. */
  @ApiProperty({ description: 'The address that starts a login.', example: '/auth/social/google/' })
  readonly url!: string;
}

/** Logins with other providers, from the start to the tokens of this service. */
@Injectable()
export class SocialService {
  constructor(
    private readonly config: Config,
    private readonly clients: ProviderClients,
    private readonly flows: LoginFlows,
    private readonly socialAccounts: SocialAccounts,
    private readonly links: SocialLinks,
    private readonly accounts: AccountsService,
    private readonly codes: LoginCodes,
    private readonly tokens: TokensService,
  ) {}

  list(): ProviderView[] {
    return this.clients.names().map((name) => ({ name, url: `/auth/social/${name}/` }));
  }

  /** @throws AppError as {@link ProviderClients.authorizationUrl} */
  async start(provider: string): Promise<StartedFlow> {
    const { flow, cookie } = this.flows.start(provider);
    return { url: await this.clients.authorizationUrl(provider, flow), cookie };
  }

  /** @throws AppError `NOT_FOUND`, `SERVICE_UNAVAILABLE` */
  requireConfigured(provider: string): void {
    this.clients.requireConfigured(provider);
  }

  /**
   * @throws AppError as {@link LoginFlows.finish}, {@link ProviderClients.profile}, {@link SocialAccounts.find},
   * {@link SocialLinks.finish}
   */
  async finish(provider: string, { cookie, parameters, client }: Callback): Promise<Finished> {
    const flow = this.flows.finish(provider, cookie, parameters.get('state') ?? '');
    const profile = await this.clients.profile(provider, parameters, flow);
    const { redirect } = this.config.social;
    if (flow.linkTo !== undefined) {
      const identity = await this.links.finish(provider, flow.linkTo, profile);
      if (redirect === undefined) return { data: toIdentityView(identity) };
      return { redirectTo: withParameter(redirect, 'linked', provider) };
    }
    const account = await this.socialAccounts.find(provider, profile);
    if (redirect === undefined) return this.tokens.open(account, client);
    return { redirectTo: withParameter(redirect, 'code', await this.codes.issue(account)) };
  }

  /** @throws AppError `TOKEN_NOT_VALID` unless the code is valid and unused */
  async exchange(code: string, client: ClientInfo): Promise<TokenPair> {
    const id = await this.codes.redeem(code);
    const account = id === undefined ? undefined : await this.accounts.findOne(id);
    if (!account?.isActive) throw tokenNotValid();
    return this.tokens.open(account, client);
  }
}

/** The address of the front end, with one more parameter. */
function withParameter(address: string, parameter: string, value: string): string {
  const url = new URL(address);
  url.searchParams.set(parameter, value);
  return url.href;
}
