import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { caseFold } from '../src/platform/database/case-fold.js';
import { startApi, type TestApi } from './support/api.js';
import { type Post, postsOf } from './support/posts.js';
import { STORES, type StoreName } from './support/stores.js';

const TEXTS: [title: string, content: string][] = [
  ['Straße nach Rom', 'Alle Wege'],
  ['STRASSE', 'ÄÖÜ äöü'],
  ['ΣΊΣΥΦΟΣ', 'Ὀδυσσεύς'],
  ['Привет, мир', 'ЁЛКА'],
  ['İstanbul', 'ıI iİ'],
  ['漢字とかな', '한국어 ภาษาไทย'],
  ['100% sure', 'a_b c%d \\ e'],
  ["it's", '"quoted" AND NOT (x OR y) NEAR*'],
  ['😀 emoji', 'family 👨‍👩‍👧'],
  ['ﬁne', 'eﬀort'],
  ['one', 'two'],
  ['line\nfeed', 'tab\there'],
  ['Ω ohm', 'K kelvin'],
  ['\uFFFD odd', 'even \uFFFD\uFFFD\uFFFD'],
  ['\uFFFE odd', 'edge \uFFFE\uFFFF\uFFFE'],
];

describe('?q', () => {
  const apis = new Map<StoreName, TestApi>();
  beforeAll(async () => {
    for (const store of STORES) {
      const api = await startApi(store);
      for (const [title, content] of TEXTS) await postsOf(api).create({ title, content });
      apis.set(store, api);
    }
  });
  afterAll(async () => {
    for (const api of apis.values()) await api.stop();
  });

  const search = async (store: StoreName, q: string): Promise<number[]> => {
    const reply = await apis
      .get(store)!
      .get(`/v1/posts?${new URLSearchParams({ q, sort_dir: 'asc' }).toString()}`);
    expect(reply).toHaveStatus(200);
    expect(reply.body.meta.total).toBe(reply.body.data.length);
    return reply.body.data.map(({ id }: Post) => id);
  };

  describe.each(STORES)('on %s', (store) => {
    it.each([
      ['strasse', [1, 2]],
      ['STRAßE', [1, 2]],
      ['äÖü', [2]],
      ['σίσυφος', [3]],
      ['ΑΣ', []],
      ['ύς', [3]],
      ['ύσ', [3]],
      ['ПРИВЕТ', [4]],
      ['ёлка', [4]],
      ['字と', [6]],
      ['국', [6]],
      ['%', [7]],
      ['0%', [7]],
      ['_', [7]],
      ['a_b', [7]],
      ['a%d', []],
      ['c%d', [7]],
      ['\\', [7]],
      ["'", [8]],
      ['"quoted"', [8]],
      ['AND NOT', [8]],
      ['near*', [8]],
      ['😀', [9]],
      ['👩‍👧', [9]],
      ['FINE', [10]],
      ['effort', [10]],
      ['onetwo', []],
      ['one\ntwo', []],
      ['E\nF', [12]],
      ['ohm', [13]],
      ['ω', [13]],
      ['k kel', [13]],
      ['\uFFFD', [14]],
      ['\uFFFD\uFFFD\uFFFD', [14]],
      ['\uFFFD odd', [14]],
      ['\uFFFE odd', [15]],
      ['\uFFFF odd', []],
      ['\uFFFE\uFFFF\uFFFE', [15]],
      ['\uFFFF\uFFFE\uFFFF', []],
      ['\uFFFF', [15]],
      ['\0', []],
      ['o\0', []],
      ['; DROP TABLE posts', []],
      ['x'.repeat(5000), []],
    ])('finds %j in %j', async (q, ids) => {
      expect(await search(store, q)).toEqual(ids);
    });

    it('finds nothing for invalid UTF-8', async () => {
      for (const q of ['%ED%A0%80', '%FF', '%C0%AF', '%00']) {
        expect((await apis.get(store)!.get(`/v1/posts?q=${q}`)).body.data).toEqual([]);
      }
    });

    it('finds a long text in a long repetitive post', async () => {
      const api = apis.get(store)!;
      const { id } = await postsOf(api).create({ title: 'Repetitive', content: 'a'.repeat(300_000) });

      expect(await search(store, 'a'.repeat(24))).toEqual([id]);
      expect(await search(store, 'a'.repeat(800))).toEqual([id]);
      expect(await search(store, 'a'.repeat(1000))).toEqual([id]);
      expect(await search(store, `${'a'.repeat(400)}b`)).toEqual([]);
      expect(await search(store, `${'a'.repeat(400)}b${'a'.repeat(400)}`)).toEqual([]);
      await api.delete(`/v1/posts/${id}`);
    });

    it('compares a long text up to its last character', async () => {
      const api = apis.get(store)!;
      const text = Array.from({ length: 45 }, (_, n) => `${n} "words" of a text`).join(', ');
      const { id } = await postsOf(api).create({ title: 'Long', content: `Before ${text} after` });

      expect(await search(store, text)).toEqual([id]);
      expect(await search(store, `re ${text.toUpperCase()} AF`)).toEqual([id]);
      expect(await search(store, text.replace('22 "words"', '22 "wards"'))).toEqual([]);
      await api.delete(`/v1/posts/${id}`);
    });

    it('finds nothing for more than 1,000 code points, over REST and GraphQL', async () => {
      const api = apis.get(store)!;
      const { id } = await postsOf(api).create({ title: 'Faces', content: '😀'.repeat(1001) });
      const byGraphQL = async (q: string) =>
        (await api.graphql('query ($q: String) { posts(q: $q) { totalCount nodes { id } } }', { q })).body
          .data.posts;

      const [longest, longer] = ['😀'.repeat(1000), '😀'.repeat(1001)];
      expect(await search(store, longest)).toEqual([id]);
      expect(await byGraphQL(longest)).toEqual({ totalCount: 1, nodes: [{ id: String(id) }] });
      expect(await search(store, longer)).toEqual([]);
      expect(await byGraphQL(longer)).toEqual({ totalCount: 0, nodes: [] });
      expect((await api.get(`/v1/posts/cursor?q=${encodeURIComponent(longer)}`)).body.data).toEqual([]);
      expect(await byGraphQL('x'.repeat(900_000))).toEqual({ totalCount: 0, nodes: [] });
      await api.delete(`/v1/posts/${id}`);
    });

    it('returns the same posts in the same order when many match', async () => {
      const api = apis.get(store)!;
      const made: Post[] = [];
      for (let n = 0; n < 120; n++)
        made.push(await postsOf(api).create({ title: `Many ${n}`, content: 'Plenty' }));
      const read = async (path: string) => (await api.get(path)).body;

      const all = (await read('/v1/posts?q=PLENTY&limit=100')).data as Post[];
      for (const q of ['plenty', 'PL']) {
        const page = await read(`/v1/posts?q=${q}&limit=1`);
        expect(page).toMatchObject({ data: [all[0]], meta: { total: 120, has_next: true } });
        expect((await read(`/v1/posts?q=${q}&limit=1&status=draft`)).data).toEqual([all[0]]);
        expect((await read(`/v1/posts?q=${q}&limit=1&sort_dir=asc`)).data).toMatchObject([
          { id: made[0]!.id },
        ]);
      }
      for (const { id } of made) await api.delete(`/v1/posts/${id}`);
    });

    it('finds a post by its new text only', async () => {
      const api = apis.get(store)!;
      const { id } = await postsOf(api).create({ title: 'Önce', content: 'Bevor' });
      await api.patch(`/v1/posts/${id}`, { title: 'Sonra' });

      expect(await search(store, 'önce')).toEqual([]);
      expect(await search(store, 'SONRA')).toEqual([id]);
      expect(await search(store, 'BEVOR')).toEqual([id]);
      await api.delete(`/v1/posts/${id}`);
    });
  });

  it('returns the same posts on both databases as a plain scan', async () => {
    const parts = TEXTS.flat().flatMap((text) => Array.from(text));
    const needle = fc.oneof(
      fc.array(fc.constantFrom(...parts), { minLength: 1, maxLength: 4 }).map((chars) => chars.join('')),
      fc
        .tuple(fc.constantFrom(...TEXTS.flat()), fc.nat(12), fc.integer({ min: 1, max: 5 }), fc.boolean())
        .map(([text, start, length, upper]) => {
          const part = Array.from(text)
            .slice(start, start + length)
            .join('');
          return upper ? part.toUpperCase() : part.toLowerCase();
        })
        .filter((part) => part !== ''),
      fc.string({ unit: 'binary', minLength: 1, maxLength: 3 }),
    );
    await fc.assert(
      fc.asyncProperty(needle, async (q) => {
        const expected = TEXTS.flatMap((texts, index) =>
          !q.includes('\0') && texts.some((text) => caseFold(text).includes(caseFold(q))) ? [index + 1] : [],
        );
        const found = await Promise.all(STORES.map((store) => search(store, q)));
        expect(found).toEqual(STORES.map(() => expected));
      }),
      { numRuns: 300 },
    );
  });
});
