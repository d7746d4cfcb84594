import { describe, expect, it } from '@jest/globals';
import { bearer } from './support/accounts.js';
import { startApi } from './support/api.js';
import { FixtureModule } from './support/fixture.module.js';
import { STORES } from './support/stores.js';

const FEED = '/v1/events';
const STREAM = '/v1/events/stream?last_event_id=x';

describe.each(STORES)('the feed and the stream on %s', (store) => {
  it.each([FEED, STREAM])('are stored by no cache if they depend on who asks: %s', async (path) => {
    const api = await startApi(store, { WRITE_ACCESS: 'authenticated' }, [FixtureModule]);
    await api.accounts.register('ada@example.com');
    await api.accounts.register('staff@example.com');
    await api.accounts.admin().setStaff('staff@example.com', true);
    const ada = bearer((await api.accounts.login('ada@example.com')).access);
    const staff = bearer((await api.accounts.login('staff@example.com')).access);

    for (const headers of [{}, ada, staff, bearer('x')]) {
      expect((await api.get(path, headers)).headers).toMatchObject({
        'cache-control': 'no-store',
        vary: expect.stringMatching(/Authorization, Cookie/),
      });
    }
    await api.stop();
  });
});
