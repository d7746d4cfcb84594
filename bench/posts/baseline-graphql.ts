import { readFileSync } from 'node:fs';
import type { FastifyInstance } from 'fastify';
import mercurius from 'mercurius';

type Row = Record<string, any>;
type Run = (name: any, values: Record<string, string | number | null>) => Row[] | Promise<Row[]>;

const USER = 'id, name, email, created_at, updated_at';
// Contents would be loaded on demand; these operations do not select them.
const POST = ['id', 'title', 'author_id', 'status', 'created_at', 'updated_at'];
const SUMMARY = [...POST, 'octet_length(content) AS content_bytes', 'version'];
const posts = POST.map((column) => `post.${column}`).join(', ');

/** The statements of GraphQL, the same as in the service. */
export const graphqlStatements = (postgres: boolean) => ({
  user: `SELECT ${USER} FROM users WHERE id = :id`,
  users: `SELECT ${USER} FROM users ORDER BY id LIMIT :limit OFFSET :offset`,
  updateUser: `UPDATE users SET name = coalesce(:name, name), email = coalesce(:email, email), updated_at = ${
    postgres
      ? "greatest(:now::timestamptz, updated_at + interval '1 millisecond')"
      : "max(:now, strftime('%Y-%m-%dT%H:%M:%fZ', updated_at, '+0.001 seconds'))"
  }, version = version + 1 WHERE id = :id RETURNING ${USER}`,
  postSummaries: `SELECT ${SUMMARY.join(', ')} FROM posts ORDER BY created_at DESC, id DESC LIMIT :limit`,
  usersByIds: `SELECT ${USER}, version FROM users WHERE id IN (${
    postgres
      ? 'SELECT value::bigint FROM json_array_elements_text(:ids::json) AS element (value)'
      : 'SELECT value FROM json_each(:ids)'
  })`,
  postsByAuthors: postgres
    ? `SELECT ${posts} FROM json_array_elements_text(:authors::json) AS author (id) CROSS JOIN LATERAL (
         SELECT ${POST.join(', ')} FROM posts WHERE author_id = author.id::bigint
         ORDER BY created_at DESC, id DESC LIMIT :limit OFFSET :offset
       ) AS post ORDER BY post.created_at DESC, post.id DESC`
    : `SELECT ${posts} FROM json_each(:authors) AS author CROSS JOIN posts AS post WHERE post.id IN (
         SELECT id FROM posts WHERE author_id = author.value
         ORDER BY created_at DESC, id DESC LIMIT :limit OFFSET :offset
       ) ORDER BY post.created_at DESC, post.id DESC`,
});

/** `/graphql` by Mercurius, with its own batching loaders and without its compiler. */
export function serveGraphql(app: FastifyInstance, run: Run): void {
  const first = async (name: string, values: Record<string, string | number | null>) =>
    (await run(name, values))[0];
  void app.register(mercurius, {
    schema: readFileSync('schema.gql', 'utf8'),
    resolvers: {
      Query: {
        user: (_: unknown, { id }: { id: string }) => first('user', { id: Number(id) }),
        users: async (_: unknown, { page, limit }: { page: number; limit: number }) =>
          run('users', { limit, offset: (page - 1) * limit }),
      },
      Mutation: {
        updateUser: (_: unknown, { id, input: { name = null, email = null } }: any) =>
          first('updateUser', { id: Number(id), name, email, now: new Date().toISOString() }),
      },
      User: { createdAt: ({ created_at }: Row) => created_at },
      Post: {
        authorId: ({ author_id }: Row) => author_id,
        createdAt: ({ created_at }: Row) => created_at,
        updatedAt: ({ updated_at }: Row) => updated_at,
      },
    },
    loaders: {
      User: {
        posts: async (queries: { obj: any; params: any }[]) => {
          const { page = 1, limit = 100 } = queries[0]!.params;
          const authors = JSON.stringify(queries.map(({ obj }) => obj.id));
          const rows = await run('postsByAuthors', { authors, limit, offset: (page - 1) * limit });
          const byAuthor = Object.groupBy(rows, (row) => row['author_id']);
          return queries.map(({ obj }) => byAuthor[obj.id] ?? []);
        },
      },
    },
  });
}
