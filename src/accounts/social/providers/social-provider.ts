import type { Configuration, TokenEndpointResponse, TokenEndpointResponseHelpers } from 'openid-client';
import type { SocialClient, SocialProviderName } from '../../../platform/config/social.js';

/** The unchecked profile of a user at a provider. */
export interface SocialProfile {
  /** The provider's permanent user id; e-mails may change their owner. */
  readonly subject: string;
  readonly email: string | undefined;
  /** Whether the provider has verified the e-mail. */
  readonly emailVerified: boolean;
  readonly name: string | undefined;
}

export type SocialTokens = TokenEndpointResponse & TokenEndpointResponseHelpers;

/** A provider of social login. */
export interface SocialProvider<Name extends SocialProviderName = SocialProviderName> {
  readonly scope: string;
  /** Whether the provider sends an ID token (OpenID Connect), which is checked with its nonce. */
  readonly openId: boolean;
  /** Creates the client; called again until it succeeds. */
  configure(client: SocialClient<Name>): Promise<Configuration>;
  identify(
    configuration: Configuration,
    tokens: SocialTokens,
    client: SocialClient<Name>,
  ): Promise<SocialProfile>;
}

/** Providers may send any value. */
export const textOf = (value: unknown): string | undefined => (typeof value === 'string' ? value : undefined);
