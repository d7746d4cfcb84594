import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';
import { Kind, parse } from 'graphql';
import { startApi } from './support/api.js';
import { STORES } from './support/stores.js';

const OPERATIONS = [...readFileSync('docs/graphql.md', 'utf8').matchAll(/^```graphql\n(.*?)^```$/gms)].map(
  ([, text]) => text!,
);

describe.each(STORES)('docs/graphql.md on %s', (store) => {
  it('has operations that run without an error, in their order', async () => {
    const api = await startApi(store);
    const { id } = await api.posts.create({ title: 'Wege nach Rom', status: 'published' });
    const names: string[] = [];

    for (const query of OPERATIONS) {
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
      names.push(operation.name!.value);
    }

    expect(names).toEqual(['Read', 'Page', 'Orders', 'Write', 'Rename', 'Order']);
    await api.stop();
  });
});
