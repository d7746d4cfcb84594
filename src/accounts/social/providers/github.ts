import { Configuration, fetchProtectedResource } from 'openid-client';
import { allowHttp, TIMEOUT } from './open-id.js';
import { type SocialProvider, textOf } from './social-provider.js';

interface User {
  readonly id: number;
  readonly login: string;
  readonly name: string | null;
}

interface Email {
  readonly email: string;
  readonly primary: boolean;
  readonly verified: boolean;
}

/** https://docs.github.com/en/apps/oauth-apps/building-oauth-apps/authorizing-oauth-apps */
export const github: SocialProvider<'github'> = {
  scope: 'read:user user:email',
  openId: false,

  async configure({ clientId, clientSecret, addresses: { url } }) {
    const issuer = under(url, '/login/oauth');
    const endpoints = {
      authorization_endpoint: `${issuer}/authorize`,
      token_endpoint: `${issuer}/access_token`,
    };
    const configuration = new Configuration({ issuer, ...endpoints }, clientId, clientSecret);
    configuration.timeout = TIMEOUT;
    for (const allow of allowHttp(url)) allow(configuration);
    return configuration;
  },

  async identify(configuration, { access_token: token }, { addresses: { api_url: api } }) {
    const [user, emails] = await Promise.all([
      fetchJson<User>(configuration, token, under(api, '/user')),
      fetchJson<Email[]>(configuration, token, under(api, '/user/emails')),
    ]);
    if (!Number.isSafeInteger(user.id)) throw new Error('GitHub returned no valid user id');
    const primary = emails.find((email) => email.primary);
    return {
      subject: String(user.id),
      email: textOf(primary?.email),
      emailVerified: primary?.verified === true,
      name: textOf(user.name ?? user.login),
    };
  },
};

const under = (base: string, path: string): string => base.replace(/\/$/, '') + path;

async function fetchJson<T>(configuration: Configuration, token: string, url: string): Promise<T> {
  const headers = new Headers({ accept: 'application/vnd.github+json' });
  const reply = await fetchProtectedResource(configuration, token, new URL(url), 'GET', null, headers);
  if (!reply.ok) throw new Error(`GitHub responded to ${new URL(url).pathname} with ${reply.status}`);
  return (await reply.json()) as T;
}
