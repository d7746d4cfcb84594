import { readFileSync } from 'node:fs';
import { ApolloServer } from '@apollo/server';
import {
  ApolloServerPluginCacheControlDisabled,
  ApolloServerPluginInlineTraceDisabled,
  ApolloServerPluginSchemaReportingDisabled,
  ApolloServerPluginUsageReportingDisabled,
} from '@apollo/server/plugin/disabled';
import { fastifyApolloHandler } from '@as-integrations/fastify';
import DataLoader from 'dataloader';
import type { FastifyInstance } from 'fastify';
import { buildSchema } from 'graphql';
import { LRUCache } from 'lru-cache';

type Row = Record<string, any>;
type Run = (name: any, values: Record<string, string | number | null>) => Row[] | Promise<Row[]>;

/**
 * The operations of `operations.ts` at `/apollo`, by Apollo Server without Nest, limits and error handling.
 * The difference to the service is the service's own cost; the rest of its difference to Mercurius is Apollo's.
 */
export async function serveApollo(app: FastifyInstance, run: Run): Promise<void> {
  const documents = new LRUCache<string, any>({ max: 100 });
  const toUser = (row: Row): Row => ({
    ...row,
    createdAt: row['created_at'],
    posts: async ({ page, limit }: { page: number; limit: number }) => {
      const authors = JSON.stringify([row['id']]);
      const rows = await run('postsByAuthors', { authors, limit, offset: (page - 1) * limit });
      return rows.map((post) => ({ ...post, createdAt: post['created_at'] }));
    },
  });
  const server = new ApolloServer({
    schema: buildSchema(readFileSync('schema.gql', 'utf8')),
    rootValue: {
      user: async ({ id }: { id: string }) => toUser((await run('user', { id: Number(id) }))[0]!),
      users: async ({ page, limit }: { page: number; limit: number }) =>
        (await run('users', { limit, offset: (page - 1) * limit })).map(toUser),
      posts: async ({ first }: { first: number }) => {
        const rows = await run('postSummaries', { limit: first + 1 });
        const authors = new DataLoader(async (ids: readonly number[]) => {
          const users = await run('usersByIds', { ids: JSON.stringify(ids) });
          const byId = new Map(users.map((user) => [user['id'], toUser(user)]));
          return ids.map((id) => byId.get(id) ?? null);
        });
        const nodes = rows.slice(0, first).map((post) => ({
          ...post,
          createdAt: post['created_at'],
          author: () => authors.load(post['author_id']),
        }));
        return { nodes, pageInfo: { hasNextPage: rows.length > first } };
      },
      updateUser: async ({ id, input: { name = null, email = null } }: any) =>
        toUser((await run('updateUser', { id: Number(id), name, email, now: new Date().toISOString() }))[0]!),
    },
    documentStore: {
      get: async (key) => documents.get(key),
      set: async (key, value) => void documents.set(key, value),
      delete: async (key) => documents.delete(key),
    },
    persistedQueries: false,
    stringifyResult: async (value) => JSON.stringify(value),
    plugins: [
      ApolloServerPluginCacheControlDisabled(),
      ApolloServerPluginInlineTraceDisabled(),
      ApolloServerPluginSchemaReportingDisabled(),
      ApolloServerPluginUsageReportingDisabled(),
    ],
  });
  await server.start();
  app.route({ url: '/apollo', method: ['GET', 'POST'], handler: fastifyApolloHandler(server) });
}
