import '../../require-node.js';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Database as DatabaseType } from '../../platform/database/database.js';
import type { NewPost } from '../../posts/post-batch.js';
import { parseCommandLine, parseNumber, YES } from '../support/command-line.js';
import { generateName, generatePost } from './generate.js';
import { countOf, Progress } from '../support/progress.js';

/** Posts in a transaction: enough to be fast, few enough for a running service to write in between. */
const BATCH = 2000;

/** The number of users; they are created in one statement. */
const MAX_USERS = 10_000;

const { values } = parseCommandLine(
  `Usage: npm run seed -- [--posts N] [--users M] [--yes]

Generates N posts (1000) in several scripts, always the same ones for the same N.
Their authors are M new users, one after the other; without --users, it is the
author of all posts of the REST API. The log of events does not contain them.
--yes creates a new database without a question.`,
  {
    options: { posts: { type: 'string', default: '1000' }, users: { type: 'string', default: '0' }, ...YES },
  },
);

const count = parseNumber('--posts', values.posts, 1);
const userCount = parseNumber('--users', values.users, 0, MAX_USERS);

// Loaded after the flags are parsed, so that `--help` is fast.
const { Clock } = await import('../../platform/jobs/clock.js');
const { Database } = await import('../../platform/database/database.js');
const { insertPosts } = await import('../../posts/post-batch.js');
const { insertUsers } = await import('../../users/user-batch.js');
const { FIRST_USER_ID } = await import('../../users/user.entity.js');
const { runDatabaseCommand } = await import('../support/run-command.js');

await runDatabaseCommand((context) => seed(context.get(Database), context.get(Clock).now()), {
  access: 'write',
  yes: values.yes,
});

async function seed(database: DatabaseType, now: Date): Promise<number> {
  const authors = userCount === 0 ? [FIRST_USER_ID] : await makeUsers(database, now);

  const progress = new Progress('posts', count);
  const start = now.getTime() - count * 1000;
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
  console.log(`${countOf(count, 'post')} in ${progress.end().toFixed(1)} s`);
  return 0;
}

/** @returns their ids */
function makeUsers(database: DatabaseType, now: Date): Promise<number[]> {
  const users = Array.from({ length: userCount }, (_, n) => ({
    name: generateName(n),
    email: `user${n + 1}@example.com`,
  }));
  return insertUsers(database, users, now);
}
