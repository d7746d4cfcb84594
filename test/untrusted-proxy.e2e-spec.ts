import { Logger } from '@nestjs/common';
import { describe, expect, it, jest } from '@jest/globals';
import { startApi } from './support/api.js';
import { FixtureModule } from './support/fixture.module.js';
import { ANY_STORE } from './support/stores.js';

const PRODUCTION = { NODE_ENV: 'production', WRITE_ACCESS: 'open', JWT_SECRET: 'as'.repeat(16) };

describe('X-Forwarded-For of a peer that is not trusted', () => {
  /** Sends requests. @returns the warnings about the header */
  const send = async (settings: Record<string, string>, headers: Record<string, string>) => {
    const warned = jest.spyOn(Logger.prototype, 'warn').mockReturnValue(undefined);
    const api = await startApi(ANY_STORE, settings, [FixtureModule]);
    for (let n = 0; n < 3; n++) expect(await api.get('/v1/dummies', headers)).toHaveStatus(200);
    await api.stop();
    return warned.mock.calls.map(([line]) => line).filter(({ msg }) => msg?.includes('TRUST_PROXY'));
  };

  it.each(['', '192.0.2.1'])('is logged once in production, with TRUST_PROXY=%s', async (TRUST_PROXY) => {
    const warnings = await send({ ...PRODUCTION, TRUST_PROXY }, { 'x-forwarded-for': '203.0.113.1' });

    expect(warnings).toEqual([{ msg: expect.stringContaining('TRUST_PROXY'), peer: '127.0.0.1' }]);
  });

  it.each([
    ['the header is absent', PRODUCTION, {}],
    [
      'the peer is trusted',
      { ...PRODUCTION, TRUST_PROXY: '127.0.0.1' },
      { 'x-forwarded-for': '203.0.113.1' },
    ],
    ['the service is not in production', {}, { 'x-forwarded-for': '203.0.113.1' }],
  ])('is not logged if %s', async (_, settings, headers) => {
    expect(await send(settings, headers as Record<string, string>)).toEqual([]);
  });
});
