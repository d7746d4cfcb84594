import { randomUUID } from 'node:crypto';
import { globSync, readFileSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';
import { Kind, parse } from 'graphql';
import { startApi } from './support/api.js';
import { postsOf } from './support/posts.js';
import { STORES } from './support/stores.js';

/** The guides with queries and mutations, which are run in their order. */
const GUIDES = globSync('docs/*.md')
  .map((file): [file: string, operations: string[]] => [
    file,
    [...readFileSync(file, 'utf8').matchAll(/^```graphql\n((?:query|mutation) .*?)^```$/gms)].map(
      ([, text]) => text!,
    ),
  ])
  .filter(([, operations]) => operations.length > 0);

describe.each(STORES)('a guide on %s', (store) => {
  it.each(GUIDES)('has operations that run without an error: %s', async (_, operations) => {
    const api = await startApi(store);
    const { id } = await postsOf(api).create({ title: 'Wege nach Rom', status: 'published' });

    for (const query of operations) {
      const [operation] = parse(query).definitions;
      if (operation?.kind !== Kind.OPERATION_DEFINITION) throw new Error(`This is no operation:\n${query}`);
      const { etag = '' } = (await api.get(`/v1/posts/${id}`)).headers;
      const values: Record<string, unknown> = { id, etag, key: randomUUID(), after: null };
      const variables = (operation.variableDefinitions ?? []).map(({ variable }) => variable.name.value);
      const { body } = await api.graphql(
        query,
        Object.fromEntries(variables.map((name) => [name, values[name]])),
      );

      expect([query, body.errors]).toEqual([query, undefined]);
    }

    await api.stop();
  });

  it('has them in docs/graphql.md', () => {
    const names = new Map(GUIDES).get('docs/graphql.md')!.map((text) => /\w+ (\w+)/.exec(text)![1]);
    expect(names).toEqual(['Read', 'Page', 'Write', 'Rename']);
  });
});
