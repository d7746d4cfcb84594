import { bearer, PASSWORD, type Tokens } from './accounts.js';
import type { TestApi } from './api.js';
import { type MailServer, tokenIn } from './mail-server.js';
import { turnOnFactor } from './second-factor.js';

/** An account, its login by tokens, and what ends it. */
export interface Owner {
  readonly api: TestApi;
  readonly mails: MailServer;
  /** The headers of a superuser. */
  readonly root: Record<string, string>;
  readonly id: number;
  readonly email: string;
  readonly tokens: Tokens;
  /** Logs in once more. @returns the headers of that login */
  readonly other: () => Promise<Record<string, string>>;
}

let count = 0;

export async function newOwner(api: TestApi, mails: MailServer, root: Owner['root']): Promise<Owner> {
  const email = `owner${++count}@example.com`;
  const { id } = await api.accounts.register(email);
  const tokens = await api.accounts.login(email);
  return {
    api,
    mails,
    root,
    id,
    email,
    tokens,
    other: async () => bearer((await api.accounts.login(email)).access),
  };
}

/** Each way in which the login of an owner ends before its time. */
export const ENDS: readonly [
  what: string,
  ends: 'one login' | 'all logins',
  end: (owner: Owner) => Promise<unknown>,
][] = [
  ['logout', 'one login', ({ api, tokens }) => api.post('/auth/logout/', { refresh: tokens.refresh })],
  [
    'DELETE /auth/sessions/{id}/',
    'one login',
    async ({ api, tokens, other }) => api.delete(`/auth/sessions/${sidOf(tokens.access)}/`, await other()),
  ],
  [
    'a reused refresh token',
    'one login',
    async ({ api, tokens }) => {
      await api.post('/auth/refresh/', { refresh: tokens.refresh });
      api.moveClock(11_000);
      await api.post('/auth/refresh/', { refresh: tokens.refresh });
    },
  ],
  [
    'DELETE /auth/sessions/ of another login',
    'all logins',
    async ({ api, other }) => api.delete('/auth/sessions/', await other()),
  ],
  [
    'a change of the password in another login',
    'all logins',
    async ({ api, other }) => {
      const change = { old_password: PASSWORD, new_password: 'another password' };
      return api.post('/auth/change-password/', change, await other());
    },
  ],
  [
    'a reset of the password',
    'all logins',
    async ({ api, mails, email }) => {
      await api.post('/auth/password/reset/', { email });
      const token = tokenIn(await mails.nextWith(email, 'Reset your password'));
      return api.post('/auth/password/reset/confirm/', { token, new_password: 'another password' });
    },
  ],
  [
    'a verification of the e-mail by the link alone',
    'all logins',
    async ({ api, mails, email }) =>
      api.post('/auth/email/verify/', { token: tokenIn(await mails.next(email)) }),
  ],
  [
    'a second factor that another login turns on',
    'all logins',
    async ({ api, email, other }) => {
      await api.accounts.admin().verifyEmail(email);
      return turnOnFactor(api, await other());
    },
  ],
  ['staff', 'all logins', ({ api, id, root }) => api.delete(`/auth/accounts/${id}/sessions/`, root)],
  [
    'deactivation by a superuser',
    'all logins',
    ({ api, id, root }) => api.patch(`/auth/accounts/${id}/`, { is_active: false }, root),
  ],
  [
    'a change of rights by a superuser',
    'all logins',
    ({ api, id, root }) => api.patch(`/auth/accounts/${id}/`, { is_staff: true }, root),
  ],
  [
    'deactivation by an operator',
    'all logins',
    ({ api, email }) => api.accounts.admin().setActive(email, false),
  ],
  [
    'a change of rights by an operator',
    'all logins',
    ({ api, email }) => api.accounts.admin().setStaff(email, true),
  ],
  [
    'a new password by an operator',
    'all logins',
    ({ api, email }) => api.accounts.setPassword(email, 'another password'),
  ],
  ['deletion by an operator', 'all logins', ({ api, email }) => api.accounts.admin().delete(email)],
];

const sidOf = (token: string): string =>
  JSON.parse(Buffer.from(token.split('.')[1]!, 'base64url').toString()).sid;
