import { Injectable } from '@nestjs/common';
import { ApiProperty, ApiSchema } from '@nestjs/swagger';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { type ClientInfo, clientOf } from '../../common/http/client.js';
import type { QueryParameters } from '../../common/http/query.js';
import { Config } from '../../config/config.js';
import { tokenNotValid } from '../access/index.js';
import { AccountsService } from '../accounts/index.js';
import { type TokenPair, TokensService } from '../tokens/index.js';
import { LoginCodes } from './login-codes.js';
import { LoginFlows } from './login-flows.js';
import { ProviderClients } from './provider-clients.js';
import { type IdentityView, toIdentityView } from './identity.view.js';
import { SocialAccounts } from './social-accounts.js';
import { SocialLinks } from './social-links.js';

/** The next address of the browser. */
export interface Redirection {
  readonly url: string;
  readonly statusCode: 302;
}

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
  async start(provider: string, reply: FastifyReply): Promise<Redirection> {
    return {
      url: await this.clients.authorizationUrl(provider, () => this.flows.start(provider, reply)),
      statusCode: 302,
    };
  }

  /**
   * @returns tokens, or the identity that was linked; nothing where the response redirects to a front end
   * @throws AppError as {@link LoginFlows.finish}, {@link ProviderClients.profile}, {@link SocialAccounts.find},
   * {@link SocialLinks.finish}
   */
  async finish(
    provider: string,
    request: FastifyRequest,
    reply: FastifyReply,
  ): Promise<TokenPair | { data: IdentityView } | undefined> {
    this.clients.requireConfigured(provider);
    const flow = this.flows.finish(provider, request, reply);
    const profile = await this.clients.profile(provider, request.query as QueryParameters, flow);
    const { redirect } = this.config.social;
    if (flow.linkTo !== undefined) {
      const identity = await this.links.finish(provider, flow.linkTo, profile);
      if (redirect === undefined) return { data: toIdentityView(identity) };
      return sendTo(redirect, 'linked', provider, reply);
    }
    const account = await this.socialAccounts.find(provider, profile);
    if (redirect === undefined) return this.tokens.open(account, clientOf(request));
    return sendTo(redirect, 'code', await this.codes.issue(account), reply);
  }

  /** @throws AppError `TOKEN_NOT_VALID` unless the code is valid and unused */
  async exchange(code: string, client: ClientInfo): Promise<TokenPair> {
    const id = await this.codes.redeem(code);
    const account = id === undefined ? undefined : await this.accounts.findOne(id);
    if (!account?.isActive) throw tokenNotValid();
    return this.tokens.open(account, client);
  }
}

/** Redirects the browser to the front end, with one more parameter. */
function sendTo(address: string, parameter: string, value: string, reply: FastifyReply): undefined {
  const url = new URL(address);
  url.searchParams.set(parameter, value);
  reply.status(302).header('location', url.href);
  return undefined;
}
