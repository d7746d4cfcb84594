/**
 * The providers that people may log in by, each with the addresses that it is found at. A line here is the
 * settings `GOOGLE_CLIENT_ID`, `GOOGLE_CLIENT_SECRET` and, to replace an address, `GOOGLE_ISSUER`.
 */
export const SOCIAL_PROVIDERS = {
  google: { issuer: 'https://accounts.google.com' },
  github: { url: 'https://github.com', api_url: 'https://api.github.com' },
} as const;

export type SocialProviderName = keyof typeof SOCIAL_PROVIDERS;

/** What the provider knows this service by, and where the provider is. */
export interface SocialClient<Name extends SocialProviderName = SocialProviderName> {
  readonly clientId: string;
  /** A secret, and so never logged. */
  readonly clientSecret: string;
  readonly addresses: { readonly [Address in keyof (typeof SOCIAL_PROVIDERS)[Name]]: string };
}

export type SocialClients = { readonly [Name in SocialProviderName]?: SocialClient<Name> };
