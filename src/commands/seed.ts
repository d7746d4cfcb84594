import '../require-node.js';
import { setTimeout as sleep } from 'node:timers/promises';
import type { CommandDatabase } from '../database/command-database.js';
import type { NewPost } from '../posts/post-batch.js';
import { parseCommandLine } from './support/command-line.js';
import { generateName, generatePost } from './support/generate.js';
import { Progress } from './support/progress.js';

/** Posts in a transaction: enough to be fast, few enough for a running service to write in between. */
const BATCH = 2000;

/** The number of users; they are created in one statement. */
const MAX_USERS = 10_000;

const { values } = parseCommandLine(
  `Usage: npm run seed -- [--posts N] [--users M]

Generates N posts (1000) in several scripts, always the same ones for the same N. Their authors are M new users (0) in
turn, or without these the author of all posts of the REST API. The log of events does not contain them.`,
  { options: { posts: { type: 'string', default: '1000' }, users: { type: 'string', default: '0' } } },
);

// Loaded after the flags are parsed, so that `--help` is fast.
const { insertPosts } = await import('../posts/post-batch.js');
const { insertUsers } = await import('../users/user-batch.js');
const { runDatabaseCommand, UsageError } = await import('./support/run-command.js');

await runDatabaseCommand(async (database) => {
  const count = Number(values.posts);
  if (!Number.isSafeInteger(count) || count < 1)
    throw new UsageError('--posts must be a whole number from 1');
  const userCount = Number(values.users);
  if (!Number.isInteger(userCount) || userCount < 0 || userCount > MAX_USERS)
    throw new UsageError(`--users must be a whole number from 0 to ${MAX_USERS}`);
  const authors = userCount === 0 ? [1] : await makeUsers(database, userCount);

  const progress = new Progress('posts', count);
  const start = Date.now() - count * 1000;
  for (let done = 0; done < count;) {
    const posts = Array.from({ length: Math.min(BATCH, count - done) }, (_, n): NewPost => {
      const number = done + n;
      return {
        ...generatePost(number),
        authorId: authors[number % authors.length]!,
        createdAt: new Date(start + number * 1000),
      };
    });
    await insertPosts(database, posts);
    done += posts.length;
    progress.show(done);
    await sleep(1);
  }
  console.log(`${count.toLocaleString('en')} posts in ${progress.end().toFixed(1)} s`);
  return 0;
});

/** @returns their ids */
function makeUsers(database: CommandDatabase, count: number): Promise<number[]> {
  const users = Array.from({ length: count }, (_, n) => ({
    name: generateName(n),
    email: `user${n + 1}@example.com`,
  }));
  return insertUsers(database, users);
}
