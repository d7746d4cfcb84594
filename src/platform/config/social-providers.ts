/**
 * The supported providers, each with its addresses. A line here defines the
 * settings `GOOGLE_CLIENT_ID`, `GOOGLE_CLIENT_SECRET` and, to replace an address, `GOOGLE_ISSUER`.
 */
export const SOCIAL_PROVIDERS = {
  google: { issuer: 'https://accounts.google.com' },
  github: { url: 'https://github.com', api_url: 'https://api.github.com' },
} as const;

export type SocialProviderName = keyof typeof SOCIAL_PROVIDERS;

/** This service's credentials at the provider, and the provider's address. */
export interface SocialClient<Name extends SocialProviderName = SocialProviderName> {
  readonly clientId: string;
  /** A secret, so it is never logged. */
  readonly clientSecret: string;
  readonly addresses: { readonly [Address in keyof (typeof SOCIAL_PROVIDERS)[Name]]: string };
}

export type SocialClients = { readonly [Name in SocialProviderName]?: SocialClient<Name> };
