import { isProviderAddress } from './rules.js';
import { read, secret, setting, text, textThat, type Settings } from './settings.js';

/**
 * The supported providers, each with its addresses. A line here defines the
 * settings `GOOGLE_CLIENT_ID`, `GOOGLE_CLIENT_SECRET` and, to replace an address, `GOOGLE_ISSUER`.
 */
const SOCIAL_PROVIDERS = {
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

const ADDRESS = 'must be an https address without a query (http only on this machine)';

const settingsOfProvider = (provider: string, addresses: Readonly<Record<string, string>>) => ({
  clientId: setting(`${provider}_CLIENT_ID`.toUpperCase(), text().optional()),
  clientSecret: secret(`${provider}_CLIENT_SECRET`.toUpperCase(), text().optional()),
  addresses: Object.fromEntries(
    Object.entries(addresses).map(([name, usual]) => [
      name,
      setting(`${provider}_${name}`.toUpperCase(), textThat(isProviderAddress, ADDRESS).default(usual)),
    ]),
  ),
});

/** The settings of all providers. */
export const SOCIAL_SETTINGS = Object.fromEntries(
  Object.entries(SOCIAL_PROVIDERS).map(([name, addresses]) => [name, settingsOfProvider(name, addresses)]),
) satisfies Settings;

/** The providers that have an id and a secret, and a sentence for each fault. */
export function readSocialClients(environment: NodeJS.ProcessEnv): {
  clients: SocialClients;
  faults: string[];
} {
  const { values, faults } = read(SOCIAL_SETTINGS, environment);
  const configured = Object.entries(values).filter(([name, { clientId, clientSecret }]) => {
    const settings = SOCIAL_SETTINGS[name]!;
    const [id, key] = [settings.clientId.variable, settings.clientSecret.variable];
    if (clientId !== undefined && clientSecret === undefined)
      faults.push(`${key} must be set together with ${id}`);
    if (clientId === undefined && clientSecret !== undefined)
      faults.push(`${id} must be set together with ${key}`);
    return clientId !== undefined && clientSecret !== undefined;
  });
  return { clients: Object.freeze(Object.fromEntries(configured)), faults };
}
