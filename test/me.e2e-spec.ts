import { expect, it } from '@jest/globals';
import { bearer } from './support/accounts.js';
import { onEach } from './support/on-each.js';

const ME = '{ me { id email name phone role isActive isStaff isSuperuser isEmailVerified dateJoined } }';

onEach('me over GraphQL', {}, ({ api }) => {
  it('returns the calling account', async () => {
    const account = await api.accounts.register('ada@example.com', { phone: '123' });
    const { access } = await api.accounts.login('ada@example.com');

    expect((await api.graphql(ME, undefined, bearer(access))).body).toEqual({
      data: {
        me: {
          id: String(account.id),
          email: 'ada@example.com',
          name: 'Ada',
          phone: '123',
          role: 'user',
          isActive: true,
          isStaff: false,
          isSuperuser: false,
          isEmailVerified: false,
          dateJoined: account.date_joined,
        },
      },
    });
  });

  it('tells staff from superusers', async () => {
    const staff = await api.accounts.logInNewStaff();

    expect((await api.graphql(ME, undefined, staff)).body.data.me).toMatchObject({
      isStaff: true,
      isSuperuser: false,
    });
  });

  it('is null without credentials, and an error with invalid ones', async () => {
    expect((await api.graphql(ME)).body).toEqual({ data: { me: null } });
    expect((await api.graphql(ME, undefined, bearer('x'))).status).toBe(401);
  });
});
