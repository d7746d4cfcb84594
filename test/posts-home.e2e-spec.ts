import { describe, expect, it } from '@jest/globals';
import { startApi } from './support/api.js';
import { ANY_STORE } from './support/stores.js';

describe('the response on the home page', () => {
  it.each([
    ['open', 201],
    ['staff', 200],
  ])('is that of the service, with WRITE_ACCESS=%s', async (writeAccess, status) => {
    const other = await startApi(ANY_STORE, { WRITE_ACCESS: writeAccess });
    const { text } = await other.get('/', { accept: 'text/html' });
    const first = /<samp>(.*?)<\/samp>/s.exec(text)?.[1];
    const reply = await (writeAccess === 'open'
      ? other.post('/v1/posts', { title: 'Hello', content: 'World' })
      : other.get('/v1/posts?limit=2'));
    await other.stop();

    expect(reply).toHaveStatus(status);
    const [head, body] = first!.replaceAll('&quot;', '"').split('\n\n');
    expect(head).toContain(`HTTP/1.1 ${status} `);
    const shown = JSON.parse(body!.replace(', …', ''));
    expect(Object.keys(reply.body)).toEqual(Object.keys(shown));
    expect(Object.keys(writeAccess === 'open' ? reply.body.data : reply.body.meta)).toEqual(
      expect.arrayContaining(Object.keys(writeAccess === 'open' ? shown.data : shown.meta)),
    );
  });
});
