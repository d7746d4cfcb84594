import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { retryCollisions } from '../database/transactions.js';
import { insertPosts, type NewPost } from '../posts/post-batch.js';
import { inventPost } from './support/invent-post.js';
import { Progress } from './support/progress.js';
import { runDatabaseCommand, UsageError } from './support/run-command.js';

/** Posts to a transaction: long enough to be fast, short enough for a running service to get its turn. */
const BATCH = 2000;

/** `npm run seed -- --posts N`: made-up posts in several scripts, the same ones for the same N. */
await runDatabaseCommand(async (source) => {
  const { values } = parseArgs({ options: { posts: { type: 'string', default: '1000' } } });
  const count = Number(values.posts);
  if (!Number.isSafeInteger(count) || count < 1)
    throw new UsageError('--posts must be a whole number from 1');

  const progress = new Progress('posts', count);
  const start = Date.now() - count * 1000;
  for (let done = 0; done < count;) {
    const posts = Array.from({ length: Math.min(BATCH, count - done) }, (_, n): NewPost => {
      const number = done + n;
      return { ...inventPost(number), authorId: 1, createdAt: new Date(start + number * 1000) };
    });
    await retryCollisions(() => source.transaction((manager) => insertPosts(manager, posts)));
    done += posts.length;
    progress.show(done);
    await sleep(1);
  }
  console.log(`${count.toLocaleString('en')} posts in ${progress.end().toFixed(1)} s`);
  return 0;
});
