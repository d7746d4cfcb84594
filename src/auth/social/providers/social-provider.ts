import type { Configuration, TokenEndpointResponse, TokenEndpointResponseHelpers } from 'openid-client';
import type { SocialClient, SocialProviderName } from '../../../config/social-providers.js';

/** What a provider says of someone. Nothing of it has been looked at yet. */
export interface SocialProfile {
  /** Who it is, for good; e-mails change hands. */
  readonly subject: string;
  readonly email: string | undefined;
  /** Whether the provider has seen that the e-mail is theirs. */
  readonly emailVerified: boolean;
  readonly name: string | undefined;
}

export type SocialTokens = TokenEndpointResponse & TokenEndpointResponseHelpers;

/** A place where people have an account already, and can show that it is theirs. */
export interface SocialProvider<Name extends SocialProviderName = SocialProviderName> {
  readonly scope: string;
  /** Whether it says who it is by an ID token (OpenID Connect), which is then checked with its nonce. */
  readonly openId: boolean;
  /** Makes the client that speaks with it; asked again until it succeeds. */
  configure(client: SocialClient<Name>): Promise<Configuration>;
  identify(
    configuration: Configuration,
    tokens: SocialTokens,
    client: SocialClient<Name>,
  ): Promise<SocialProfile>;
}

/** What a provider has sent may be anything. */
export const textOf = (value: unknown): string | undefined => (typeof value === 'string' ? value : undefined);
