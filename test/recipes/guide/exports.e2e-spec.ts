import { describe, expect, it } from '@jest/globals';
import { startApi } from '../../support/api.js';
import { STORES } from '../../support/stores.js';
import { ExportsModule } from './exports/exports.module.js';

describe.each(STORES)('exports on %s', (store) => {
  it('are served if the feature is on', async () => {
    const api = await startApi(store, { FEATURES: 'other, exports' }, [ExportsModule]);
    await api.posts.create({ title: 'First' });

    expect((await api.get('/v1/exports/titles')).text).toBe('First\n');
    await api.stop();
  });

  it('are not found otherwise', async () => {
    const api = await startApi(store, {}, [ExportsModule]);

    expect(await api.get('/v1/exports/titles')).toBeError('NOT_FOUND');
    await api.stop();
  });
});
