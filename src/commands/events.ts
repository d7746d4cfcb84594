import '../require-node.js';
import { setTimeout as sleep } from 'node:timers/promises';
import type { EventAppender, EventStore } from '../platform/changes/index.js';
import { parseCommandLine, rejectUsage } from './support/command-line.js';

/** The interval between two reads, in milliseconds. */
const INTERVAL = 250;

const READ = { limit: 100, bytes: 1024 * 1024 };

const USAGE = `Usage: npm run events -- <command>
  tail [--after ID] [--types a,b] [--json]
                   prints new events, or all events after the one with ID; Ctrl-C ends it
  renew-epoch      starts a new epoch for event ids, after the database was restored from a copy of its files`;

const { values, positionals } = parseCommandLine(USAGE, {
  options: {
    after: { type: 'string' },
    types: { type: 'string' },
    json: { type: 'boolean', default: false },
  },
  allowPositionals: true,
});

const [command, ...more] = positionals;
if (command === undefined || more.length > 0) rejectUsage(USAGE);
if (command !== 'tail' && command !== 'renew-epoch') {
  rejectUsage(`There is no command ${command}\n\n${USAGE}`);
}

// Loaded after the flags are parsed, so that `--help` is fast.
const { AppError } = await import('../platform/http/errors/errors.js');
const { Config } = await import('../platform/config/config.js');
const { isOutage } = await import('../platform/database/failures.js');
const events = await import('../platform/changes/index.js');
const { runDatabaseCommand, UsageError } = await import('./support/run-command.js');

await runDatabaseCommand(
  (context) =>
    command === 'tail'
      ? tail(context.get(events.EventStore, { strict: false }), context.get(Config).publicUrl)
      : renewEpoch(context.get(events.EventAppender, { strict: false })),
  { access: command === 'tail' ? 'read' : 'write' },
);

async function renewEpoch(appender: EventAppender): Promise<number> {
  await appender.renewEpoch();
  console.log('Started a new epoch for event ids');
  return 0;
}

async function tail(store: EventStore, source: string): Promise<number> {
  const { types, after } = values;
  const ending = new AbortController();
  process.once('SIGINT', () => ending.abort());
  // Such as `head` after its last line: without a reader, it would run forever.
  process.stdout.once('error', () => ending.abort());
  const wanted = types === undefined ? undefined : new Set(types.split(','));
  let position = after === undefined ? (await store.state()).last : await locate(store, after);
  while (!ending.signal.aborted) {
    const rows = await store.read(position, events.EVERY_EVENT, READ).catch(noneDuringOutage);
    for (const row of rows) {
      position = row.position;
      if (wanted && !wanted.has(row.type)) continue;
      const { id, time, type, subject, json } = new events.StoredEvent(row, source);
      console.log(values.json ? json : `${time}  ${id}  ${type.padEnd(18)} ${subject}`);
    }
    if (rows.length === 0) await sleep(INTERVAL);
  }
  return 0;
}

/** `tail` continues when the database is available again. */
async function noneDuringOutage(error: unknown): Promise<never[]> {
  if (!isOutage(error)) throw error;
  console.error(`The database is unavailable: ${(error as Error).message}`);
  await sleep(1000);
  return [];
}

async function locate(store: EventStore, id: string): Promise<number> {
  try {
    return await store.locate(id);
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    const reason = error.code === 'INVALID_CURSOR' ? 'there is no event with this id' : error.message;
    throw new UsageError(`--after ${id}: ${reason}`);
  }
}
