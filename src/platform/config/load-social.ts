import { z } from 'zod';
import { SOCIAL_PROVIDERS, type SocialClients } from './social-providers.js';

type Environment = Readonly<Record<string, unknown>>;

const LOOPBACK = /^(localhost|127(\.\d+){3}|\[::1\])$/;

/** Secrets are sent there: over HTTPS, or within this machine. */
function isProviderAddress(value: string): boolean {
  if (!URL.canParse(value)) return false;
  const { protocol, hostname, search, hash } = new URL(value);
  const isSafe = protocol === 'https:' || (protocol === 'http:' && LOOPBACK.test(hostname));
  return isSafe && search + hash === '';
}

const address = z.string().refine(isProviderAddress, {
  error: 'must be an https address without a query (http only on this machine)',
});

const settingOf = (provider: string, name: string): string => `${provider}_${name}`.toUpperCase();

/** The settings of all providers. */
export const socialSettings = z.object(
  Object.fromEntries(
    Object.entries(SOCIAL_PROVIDERS).flatMap(([provider, addresses]) => [
      ...['client_id', 'client_secret'].map((name) => [settingOf(provider, name), z.string().optional()]),
      ...Object.entries(addresses).map(([name, usual]) => [
        settingOf(provider, name),
        address.default(usual),
      ]),
    ]),
  ) as Record<string, z.ZodType<string | undefined>>,
);

/** The missing settings of a configured provider. */
export function socialFaults(env: Environment): string[] {
  return Object.keys(SOCIAL_PROVIDERS).flatMap((provider) => {
    const [id, secret] = [settingOf(provider, 'client_id'), settingOf(provider, 'client_secret')];
    if (Boolean(env[id]) === Boolean(env[secret])) return [];
    return [`${env[id] ? secret : id} must be set together with ${env[id] ? id : secret}`];
  });
}

/** The configured providers. */
export function toSocialClients(env: Environment): SocialClients {
  const clients = Object.entries(SOCIAL_PROVIDERS)
    .filter(([provider]) => env[settingOf(provider, 'client_id')])
    .map(([provider, addresses]) => [
      provider,
      Object.freeze({
        clientId: env[settingOf(provider, 'client_id')],
        clientSecret: env[settingOf(provider, 'client_secret')],
        addresses: Object.freeze(
          Object.fromEntries(Object.keys(addresses).map((name) => [name, env[settingOf(provider, name)]])),
        ),
      }),
    ]);
  return Object.freeze(Object.fromEntries(clients)) as SocialClients;
}
