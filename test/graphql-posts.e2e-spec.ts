import { describe, expect, it } from '@jest/globals';
import { startApi, type TestApi } from './support/api.js';
import { onEach } from './support/on-each.js';
import { postsOf } from './support/posts.js';
import { recordedEvents } from './support/recorded-changes.js';
import { STORES } from './support/stores.js';
import { until } from './support/until.js';
import { usersOf } from './support/users.js';

const FIELDS = 'id title content status authorId author { id } createdAt updatedAt etag';
const CREATE = `mutation ($input: CreatePostInput!) { createPost(input: $input) { ${FIELDS} } }`;
const UPDATE = `mutation ($id: ID!, $input: UpdatePostInput!, $ifMatch: String) {
  updatePost(id: $id, input: $input, ifMatch: $ifMatch) { ${FIELDS} }
}`;
const DELETE = 'mutation ($id: ID!, $ifMatch: String) { deletePost(id: $id, ifMatch: $ifMatch) }';

onEach('posts over GraphQL', {}, ({ api }) => {
  const run = async (query: string, variables?: object): Promise<any> =>
    (await api.graphql(query, variables)).body;
  const codeOf = async (query: string, variables?: object): Promise<string> =>
    (await run(query, variables)).errors[0].extensions.code;
  const tagOf = async (id: number | string): Promise<string> =>
    (await api.get(`/v1/posts/${id}`)).headers['etag']!;

  /** A post of REST as GraphQL shows it. */
  const asNode = async (id: number | string) => {
    const { body, headers } = await api.get(`/v1/posts/${id}`);
    const { data } = body;
    return {
      id: String(data.id),
      title: data.title,
      content: data.content,
      status: data.status,
      authorId: String(data.author_id),
      author: { id: String(data.author_id) },
      createdAt: data.created_at,
      updatedAt: data.updated_at,
      etag: headers.etag,
    };
  };

  describe('post', () => {
    const POST = `query ($id: ID!) { post(id: $id) { ${FIELDS} } }`;

    it('is that of REST, with its entity tag', async () => {
      const { id } = await postsOf(api).create({ content: 'Some ‘content’ 😀' });

      expect((await run(POST, { id })).data.post).toEqual(await asNode(id));
      expect((await run(POST, { id: `+00${id}` })).data.post.id).toBe(String(id));
    });

    it.each(['999999', '0', '-1', 'abc', '', '1.0', '9223372036854775808', '9'.repeat(500), '\0', '\ud800'])(
      'is null for the id %j',
      async (id) => {
        expect(await run(POST, { id })).toEqual({ data: { post: null } });
      },
    );

    it('is not counted as read', async () => {
      const [{ id: seen }, { id: unseen }] = [await postsOf(api).create(), await postsOf(api).create()];
      for (let n = 0; n < 5; n++) await run(POST, { id: unseen });
      for (let n = 0; n < 3; n++) await api.get(`/v1/posts/${seen}`);

      const mostRead = async (): Promise<string> =>
        (await run('{ posts(first: 1, orderBy: { field: views }) { nodes { id } } }')).data.posts.nodes[0].id;
      await until('the views are written', async () => (await mostRead()) === String(seen));

      expect(await mostRead()).toBe(String(seen));
    });
  });

  describe('createPost', () => {
    it('creates a post that REST returns too, with the next id', async () => {
      const { id: last } = await postsOf(api).create();
      const { createPost } = (await run(CREATE, { input: { title: 'A', content: 'B' } })).data;

      expect(createPost).toEqual(await asNode(last + 1));
      expect(createPost).toMatchObject({ title: 'A', content: 'B', status: 'draft', authorId: '1' });
    });

    it.each([
      ['published', 'published'],
      ['draft', 'draft'],
      [null, 'draft'],
    ])('sets the status %s', async (status, expected) => {
      const { createPost } = (await run(CREATE, { input: { title: ' ', content: '\n', status } })).data;
      expect(createPost.status).toBe(expected);
    });

    it('accepts titles of 200 code points', async () => {
      const title = '😀'.repeat(200);
      expect((await run(CREATE, { input: { title, content: 'C' } })).data.createPost.title).toBe(title);
    });

    it.each([
      [{ title: '', content: '' }, ['title', 'content']],
      [{ title: 'a'.repeat(201), content: 'C' }, ['title']],
      [{ title: `${'a\uFE0F'.repeat(100)}a`, content: 'C' }, ['title']],
      [{ title: 'a\0', content: '\ud800' }, ['title', 'content']],
    ])('names the fields that break a rule: %j', async (input, fields) => {
      const before = await postsOf(api).count();
      const { data, errors } = await run(CREATE, { input });

      expect(data).toBeNull();
      expect(errors[0]).toMatchObject({ path: ['createPost'], extensions: { code: 'BAD_USER_INPUT' } });
      expect(errors[0].extensions.details.map(({ field }: any) => field)).toEqual(fields);
      expect(await postsOf(api).count()).toBe(before);
    });

    it.each([
      { title: 'A' },
      { title: null, content: 'C' },
      { title: 5, content: 'C' },
      { title: 'A', content: 'C', status: 'archived' },
      { title: 'A', content: 'C', status: '' },
      { title: 'A', content: 'C', views: 5 },
      null,
    ])('rejects %j by the schema', async (input) => {
      const { data, errors } = await run(CREATE, { input });
      expect(data).toBeUndefined();
      expect(errors[0].extensions.code).toBe('BAD_USER_INPUT');
    });
  });

  describe('updatePost', () => {
    it.each([
      [{ title: 'After' }, { title: 'After' }],
      [
        { content: '', status: 'published' },
        { content: '', status: 'published' },
      ],
      [{ title: null, content: null, status: null }, {}],
      [{}, {}],
    ])('changes only the given fields: %j', async (input, changed) => {
      const before = await postsOf(api).create({ title: 'Before' });
      const { updatePost } = (await run(UPDATE, { id: before.id, input })).data;

      expect(updatePost).toEqual(await asNode(before.id));
      expect(await postsOf(api).get(before.id)).toEqual({
        ...before,
        ...changed,
        updated_at: expect.laterThan(before.updated_at),
      });
    });

    it('names the fields that break a rule, and keeps the post unchanged', async () => {
      const before = await postsOf(api).create();
      const { errors } = await run(UPDATE, { id: before.id, input: { title: '', content: 'a\0' } });

      expect(errors[0].extensions).toMatchObject({ code: 'BAD_USER_INPUT' });
      expect(errors[0].extensions.details.map(({ field }: any) => field).toSorted()).toEqual([
        'content',
        'title',
      ]);
      expect(await postsOf(api).get(before.id)).toEqual(before);
    });
  });

  describe('deletePost', () => {
    it('deletes a post once, and returns its id', async () => {
      const { id } = await postsOf(api).create();

      expect(await run(DELETE, { id: `0${id}` })).toEqual({ data: { deletePost: String(id) } });
      expect(await codeOf(DELETE, { id })).toBe('NOT_FOUND');
      expect(await api.get(`/v1/posts/${id}`)).toBeError('NOT_FOUND');
    });
  });

  it.each(['999999', '0', 'abc', '', '9'.repeat(30)])(
    'changes of the unknown id %j are NOT_FOUND',
    async (id) => {
      expect(await codeOf(UPDATE, { id, input: { title: 'A' } })).toBe('NOT_FOUND');
      expect(await codeOf(UPDATE, { id, input: {}, ifMatch: '"1-x"' })).toBe('NOT_FOUND');
      expect(await codeOf(DELETE, { id })).toBe('NOT_FOUND');
      expect(await codeOf(DELETE, { id, ifMatch: '*' })).toBe('NOT_FOUND');
      expect(await codeOf('mutation ($id: ID!) { deleteUser(id: $id) }', { id })).toBe('NOT_FOUND');
    },
  );

  describe('ifMatch', () => {
    it('accepts the current tag, of GraphQL or REST, alone, in a list, or as *', async () => {
      const { id } = await postsOf(api).create();
      let etag = await tagOf(id);
      for (const list of [(tag: string) => tag, (tag: string) => `"a", ${tag}`, () => '*', () => null]) {
        const { data } = await run(UPDATE, { id, input: { title: 'A' }, ifMatch: list(etag) });
        expect(data.updatePost.etag).toBe(await tagOf(id));
        expect(data.updatePost.etag).not.toBe(etag);
        etag = data.updatePost.etag;
      }
      expect(await api.patch(`/v1/posts/${id}`, { title: 'B' }, { 'if-match': etag })).toHaveStatus(200);
      expect((await run(DELETE, { id, ifMatch: await tagOf(id) })).data.deletePost).toBe(String(id));
    });

    it('rejects an outdated or weak tag, and keeps the post unchanged', async () => {
      const { id } = await postsOf(api).create();
      const outdated = await tagOf(id);
      await api.patch(`/v1/posts/${id}`, { title: 'Meanwhile' });
      const before = await postsOf(api).get(id);
      const weak = `W/${await tagOf(id)}`;

      for (const ifMatch of [outdated, weak, '"x"']) {
        expect(await codeOf(UPDATE, { id, input: { title: 'A' }, ifMatch })).toBe('PRECONDITION_FAILED');
        expect(await codeOf(DELETE, { id, ifMatch })).toBe('PRECONDITION_FAILED');
      }
      expect(await postsOf(api).get(id)).toEqual(before);
    });

    it.each(['', ' ', 'x', '"x', '"a" "b"', '\0'])(
      'rejects %j, which is no list of tags',
      async (ifMatch) => {
        const { id } = await postsOf(api).create();
        expect(await codeOf(UPDATE, { id, input: {}, ifMatch })).toBe('BAD_USER_INPUT');
        expect(await codeOf(DELETE, { id, ifMatch })).toBe('BAD_USER_INPUT');
      },
    );

    it('lets exactly one of many concurrent changes with one tag succeed, over both APIs', async () => {
      const { id } = await postsOf(api).create();
      const etag = await tagOf(id);
      const codes = new Set<string>();

      const results = await Promise.all(
        Array.from({ length: 60 }, async (_, n) => {
          if (n % 3 === 0)
            return (
              (await api.patch(`/v1/posts/${id}`, { title: `T ${n}` }, { 'if-match': etag })).status === 200
            );
          const { data, errors } = await run(UPDATE, { id, input: { title: `T ${n}` }, ifMatch: etag });
          if (errors) codes.add(errors[0].extensions.code);
          return data !== null;
        }),
      );

      expect(results.filter(Boolean)).toHaveLength(1);
      expect([...codes]).toEqual(['PRECONDITION_FAILED']);
      expect((await postsOf(api).get(id)).title).toBe(`T ${results.indexOf(true)}`);
    });

    it('lets exactly one of many concurrent deletions succeed', async () => {
      const { id } = await postsOf(api).create();
      const ifMatch = await tagOf(id);
      const results = await Promise.all(Array.from({ length: 30 }, () => run(DELETE, { id, ifMatch })));

      expect(results.filter(({ data }) => data !== null)).toHaveLength(1);
    });
  });

  it('runs the mutations of an operation in order, and shows each the state that it left', async () => {
    const { id } = await postsOf(api).create();
    const update = (n: number) =>
      `${'abc'[n]}: updatePost(id: ${id}, input: { title: "${n}", content: "content ${n}" }) { title content etag }`;

    const { data, errors } = await run(`mutation {
      ${update(0)} ${update(1)} deletePost(id: ${id}) ${update(2)}
    }`);

    expect(data).toBeNull();
    expect(errors[0]).toMatchObject({ path: ['c'], extensions: { code: 'NOT_FOUND' } });
    const { data: made } = await run(
      `mutation { a: createPost(input: { title: "1", content: "x" }) { id etag author { posts(limit: 1) { title } } }
                  b: createPost(input: { title: "2", content: "y" }) { id etag author { posts(limit: 1) { title } } } }`,
    );
    expect(Number(made.b.id)).toBe(Number(made.a.id) + 1);
    expect(made.a.author.posts[0].title).toBe('1');
    expect(made.b.author.posts[0].title).toBe('2');
  });

  it('does not return more than 16 MiB of texts from one operation of mutations', async () => {
    const { id } = await postsOf(api).create({ content: 'x'.repeat(1_000_000) });
    const names = Array.from({ length: 18 }, (_, n) => `n${n}`);
    const updates = names.map((name) => `${name}: updatePost(id: ${id}, input: {}) { content }`);

    const { data } = await run(`mutation { ${updates.slice(0, 16).join(' ')} }`);
    expect(Object.keys(data)).toHaveLength(16);
    expect(await codeOf(`mutation { ${updates.join(' ')} }`)).toBe('QUERY_TOO_COMPLEX');
  });

  it('counts texts as they are written: a control character takes six bytes', async () => {
    // The body of its creation has just under 1 MiB.
    const { id } = await postsOf(api).create({ content: '\u0001'.repeat(174_000) });
    const quotes = await postsOf(api).create({ content: '\n"\\'.repeat(100_000) });
    const query = (count: number, of = id) =>
      `{ ${Array.from({ length: count }, (_, n) => `n${n}: post(id: ${of}) { content }`).join(' ')} }`;

    expect((await run(query(16))).data.n15.content).toHaveLength(174_000);
    expect(await codeOf(query(17))).toBe('QUERY_TOO_COMPLEX');
    expect((await run(query(27, quotes.id))).data.n26.content).toHaveLength(300_000);
    expect(await codeOf(query(28, quotes.id))).toBe('QUERY_TOO_COMPLEX');
    for (const each of [id, quotes.id]) await api.delete(`/v1/posts/${each}`);
  });

  it('records the events of REST', async () => {
    const { id } = (await run(CREATE, { input: { title: 'E', content: 'C' } })).data.createPost;
    const seen = [await postsOf(api).get(id)];
    for (const input of [{ title: 'F' }, { status: 'published' }, { title: 'G', status: 'draft' }]) {
      await run(UPDATE, { id, input });
      seen.push(await postsOf(api).get(id));
    }
    await codeOf(UPDATE, { id, input: { title: '' } });
    await codeOf(UPDATE, { id, input: { title: 'H' }, ifMatch: '"x"' });
    await run(DELETE, { id });
    const user = await usersOf(api).create();
    await run('mutation ($id: ID!) { deleteUser(id: $id) }', { id: user.id });

    const subjects = new Set([`/v1/posts/${id}`, `/v2/users/${user.id}`]);
    const events = (await recordedEvents(api)).filter(({ subject }: any) => subjects.has(subject));
    expect(events.map(({ type, data: shown }: any) => [type, shown])).toEqual([
      ['post.created', seen[0]],
      ['post.updated', seen[1]],
      ['post.published', seen[2]],
      ['post.unpublished', seen[3]],
      ['post.deleted', { id: Number(id) }],
      ['user.created', user],
      ['user.deleted', { id: user.id }],
    ]);
  });

  it('deletes users by the rules of REST', async () => {
    const { id } = await usersOf(api).create();
    const author = await usersOf(api).create();
    await postsOf(api).createBy(Number(author.id), ['One']);
    const deleteUser = 'mutation ($id: ID!) { deleteUser(id: $id) }';

    expect(await run(deleteUser, { id })).toEqual({ data: { deleteUser: id } });
    expect(await api.get(`/v2/users/${id}`)).toBeError('NOT_FOUND');
    expect(await codeOf(deleteUser, { id: author.id })).toBe('CONFLICT');
    expect(await codeOf(deleteUser, { id: 1 })).toBe('CONFLICT');
    expect(await usersOf(api).get(author.id)).toEqual(author);
  });
});

describe.each(STORES)('writing over GraphQL on %s', (store) => {
  /** Each mutation of posts and users, with their errors. */
  const codesOf = async (api: TestApi, headers: Record<string, string> = {}): Promise<(string | null)[]> => {
    const codes = [];
    for (const field of [
      'createPost(input: { title: "T", content: "C" }) { id }',
      'updatePost(id: 1, input: { title: "U" }) { id }',
      'deletePost(id: 1)',
      'createUser(input: { name: "N", email: "" }) { id }',
      'updateUser(id: 2, input: { name: "M" }) { id }',
      'deleteUser(id: 2)',
    ]) {
      const { errors } = (await api.graphql(`mutation { ${field} }`, {}, headers)).body;
      codes.push(errors?.[0].extensions.code ?? null);
    }
    return codes;
  };
  const all = (code: string | null) => Array.from({ length: 6 }, () => code);

  it('is open to everyone by default', async () => {
    const api = await startApi(store);
    expect(await codesOf(api)).toEqual(all(null));
    await api.stop();
  });

  it.each([
    ['authenticated', null],
    ['staff', 'FORBIDDEN'],
  ])('with WRITE_ACCESS=%s needs an account, and reading does not', async (mode, forUsers) => {
    const api = await startApi(store, { WRITE_ACCESS: mode });
    const user = await api.accounts.logInNew('user@example.com');

    expect(await codesOf(api)).toEqual(all('UNAUTHENTICATED'));
    expect(await codesOf(api, user)).toEqual(all(forUsers));
    const fresh = await startApi(store, { WRITE_ACCESS: mode });
    const staff = await fresh.accounts.logInNewStaff();
    expect(await codesOf(fresh, staff)).toEqual(all(null));
    await fresh.stop();
    const { data } = (
      await api.graphql('{ posts { totalCount nodes { author { id } } } post(id: 1) { id } }')
    ).body;
    expect(data).toEqual({ posts: { totalCount: 0, nodes: [] }, post: null });
    await api.stop();
  });

  it('names each change in the audit log', async () => {
    const api = await startApi(store, { WRITE_ACCESS: 'authenticated' });
    const user = await api.accounts.logInNew('user@example.com');
    await codesOf(api, user);
    const staff = await api.accounts.logInNewStaff();

    const { id } = (await api.get('/auth/me/', user)).body;
    const { data } = (await api.get(`/v1/audit?limit=6&account_id=${id}`, staff)).body;
    expect(data.map(({ action, subject }: any) => [action, subject]).toReversed()).toEqual([
      ['mutation createPost', '/v1/posts/1'],
      ['mutation updatePost', '/v1/posts/1'],
      ['mutation deletePost', '/v1/posts/1'],
      ['mutation createUser', '/v2/users/2'],
      ['mutation updateUser', '/v2/users/2'],
      ['mutation deleteUser', '/v2/users/2'],
    ]);
    await api.stop();
  });
});
