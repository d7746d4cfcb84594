import { Database } from '../../src/platform/database/database.js';
import { insertPosts } from '../../src/posts/post-batch.js';
import { created, type TestApi } from './api.js';
import { patiently } from './concurrent.js';

export interface Post {
  readonly id: number;
  readonly title: string;
  readonly content: string;
  readonly author_id: number;
  readonly status: string;
  readonly created_at: string;
  readonly updated_at: string;
}

/** The posts of an application. */
export const postsOf = (api: TestApi) => ({
  create: async (fields: Partial<Post> = {}): Promise<Post> =>
    created(
      await patiently(() => api.post('/v1/posts', { title: 'A title', content: 'Some content', ...fields })),
    ),
  get: async (id: number): Promise<Post> => (await api.get(`/v1/posts/${id}`)).body.data,
  count: async (): Promise<number> => (await api.get('/v1/posts')).body.meta.total,
  /** Creates posts of another author than the default one of REST, oldest first, one second apart. */
  createBy: (authorId: number, titles: readonly string[], content = 'Some content'): Promise<void> =>
    insertPosts(
      api.app.get(Database),
      titles.map((title, n) => ({
        title,
        content,
        status: 'draft',
        authorId,
        createdAt: new Date(Date.UTC(2026, 0, 1) + n * 1000),
      })),
    ),
});
