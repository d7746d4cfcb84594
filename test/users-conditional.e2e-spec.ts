import { describe, expect, it } from '@jest/globals';
import { patiently, times } from './support/concurrent.js';
import { sendIfMatch, tagOf, testEntityTags, testIfMatch } from './support/conditional.js';
import { onEach } from './support/on-each.js';
import { usersOf } from './support/users.js';

const XML = { accept: 'application/xml' };

onEach('conditional requests for users', {}, ({ api }) => {
  describe('entity tags of users', () => {
    describe.each(['/v1/users', '/v2/users'])('below %s', (path) => {
      testEntityTags(
        () => api,
        async () => `${path}/${(await usersOf(api).create()).id}`,
      );
    });

    it('change with each write, also of hidden fields, over GraphQL, and within one millisecond', async () => {
      const { id } = await usersOf(api).create({ name: 'Same' });
      const tags = new Set<string>();
      const note = async () => tags.add(tagOf(await api.get(`/v1/users/${id}`)));
      await note();
      await api.patch(`/v1/users/${id}`, { email: 'ada@example.com' });
      await note();
      await api.patch(`/v2/users/${id}`, {});
      await note();
      await api.graphql(`mutation { updateUser(id: ${id}, input: { name: "Same" }) { id } }`);
      await note();
      for (let n = 0; n < 20; n++) {
        await Promise.all([1, 2, 3].map(() => api.patch(`/v1/users/${id}`, { name: 'Same' })));
        await note();
      }
      expect(tags.size).toBe(24);
    });

    it('differ between the JSON and the XML of a user, and do not match each other', async () => {
      const { id } = await usersOf(api).create();
      const [json, xml] = [await api.get(`/v1/users/${id}`), await api.get(`/v1/users/${id}`, XML)];

      expect(tagOf(json)).not.toBe(tagOf(xml));
      expect(await api.get(`/v1/users/${id}`, { 'if-none-match': tagOf(xml) })).toHaveStatus(200);
      expect(await api.get(`/v1/users/${id}`, { ...XML, 'if-none-match': tagOf(json) })).toHaveStatus(200);
      const unchanged = await api.get(`/v1/users/${id}`, { ...XML, 'if-none-match': tagOf(xml) });
      expect(unchanged).toHaveStatus(304);
      expect(unchanged.headers).toMatchObject({ etag: tagOf(xml), vary: 'Accept' });
      expect(unchanged.headers).not.toHaveProperty('content-type');
    });
  });

  describe('If-Match of users', () => {
    const VERSIONS = [1, 2] as const;
    const CHANGES = VERSIONS.flatMap((version) =>
      (['PATCH', 'PUT', 'DELETE'] as const).map((method) => [method, version] as const),
    );

    describe.each(CHANGES)('of %s of version %i', (method, version) => {
      const make = async () => `/v${version}/users/${(await usersOf(api).create()).id}`;
      testIfMatch(() => api, method, make, `/v${version}/users/999999999`);

      it('also matches the tag of the XML', async () => {
        const path = await make();
        const tag = tagOf(await api.get(path.replace('v2', 'v1'), XML));

        expect(await sendIfMatch(api, method, path, tag)).toHaveStatus(method === 'DELETE' ? 204 : 200);
      });
    });

    it('accepts exactly one of 100 concurrent changes with one tag, by all methods and versions', async () => {
      const { id } = await usersOf(api).create();
      const tag = tagOf(await api.get(`/v2/users/${id}`));
      const xml = tagOf(await api.get(`/v1/users/${id}`, XML));

      const replies = await times(100, (n) =>
        patiently(() => {
          const path = `/v${1 + (n % 3 === 0 ? 1 : 0)}/users/${id}`;
          return sendIfMatch(api, n % 2 ? 'PATCH' : 'PUT', path, n % 5 ? tag : xml, { name: `Name ${n}` });
        }),
      );

      const [winner, ...more] = replies.filter(({ status }) => status === 200);
      expect(more).toEqual([]);
      expect(replies.filter(({ status }) => status === 412)).toHaveLength(99);
      const { name } = winner!.body.data ?? winner!.body;
      expect((await usersOf(api).get(id)).name).toBe(name);
    });

    it('rejects a tag that a change over GraphQL has outdated', async () => {
      const { id } = await usersOf(api).create();
      const tag = tagOf(await api.get(`/v2/users/${id}`));
      await api.graphql(`mutation { updateUser(id: ${id}, input: {}) { id } }`);

      expect(await sendIfMatch(api, 'PATCH', `/v2/users/${id}`, tag)).toBeError('PRECONDITION_FAILED');
    });
  });
});
