import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { explainStartFailure } from '../../platform/operations/start-failure.js';
import { isPostgresOnly } from '../../platform/config/package.js';
import { describeStore, loadStoreConfig, type StoreConfig } from '../../platform/config/store.js';
import { type Contents, parentsFirst, quote, type Table } from '../../platform/database/contents.js';
import { commandDataSource, contentsOf } from '../../platform/database/data-source.js';
import { migrate } from '../../platform/database/migrate.js';
import { Queries } from '../../platform/database/queries.js';
import { Transactions } from '../../platform/database/transactions.js';
import { eventAppender } from '../../platform/changes/index.js';
import { UsageError } from './ask.js';
import { countOf, Progress } from './progress.js';
import { rejectOlder, requireDatabase } from './run-command.js';

type Store = StoreConfig['store'];

const IN_PLACE = {
  sqlite: 'with the folder as DATA_DIR, and without DATABASE_URL',
  postgres: 'with the address as DATABASE_URL',
};

/**
 * Copies all tables to an empty database of the other kind, in one transaction there. It writes neither events nor
 * entries of the audit log.
 *
 * @param address of PostgreSQL, or a folder
 * @throws UsageError when source or target cannot be used
 */
export async function moveDatabase(from: Store, address: string): Promise<number> {
  if (isPostgresOnly)
    throw new UsageError('This service runs on PostgreSQL alone: there is no other database');
  requireDatabase(from);
  const to = await atTarget(() => targetOf(address));
  if (to.kind === from.kind) {
    throw new UsageError(
      `Source and target are of the same kind (${describeStore(from)}): copy it with a backup, see docs/operations.md`,
    );
  }
  console.error(`From: ${describeStore(from)}\nTo: ${describeStore(to)}`);
  const source = contentsOf(from);
  const target = contentsOf(to);
  try {
    await source.reserve();
    const lastPosition = await numberEvents(from);
    await atTarget(async () => {
      await target.reserve();
      await migrate({ store: to });
    });
    await copy(source, target, lastPosition);
  } finally {
    await source.close();
    await target.close();
  }
  console.log(`Start the service ${IN_PLACE[to.kind]}. Its keys are not in the database, so they have to come along:
ENCRYPTION_KEY, if it is set, and JWT_SECRET, or without it the file jwt-secret in DATA_DIR`);
  return 0;
}

function targetOf(address: string): Store {
  const { DATABASE_URL: _, DATABASE_URL_FILE: __, ...others } = process.env;
  const isAddress = /^postgres(ql)?:/.test(address);
  if (!isAddress && /^\w+:\/\//.test(address))
    throw new UsageError('The target must be postgres://user:password@host:port/database, or a folder');
  return loadStoreConfig({ ...others, [isAddress ? 'DATABASE_URL' : 'DATA_DIR']: address }).store;
}

/** Runs a part whose errors name the settings of the service, which are those of the source. */
async function atTarget<T>(work: () => T | Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    const message = explainStartFailure(error).replaceAll(/DATABASE_URL|DATA_DIR/g, 'The target');
    throw new UsageError(message, { cause: error });
  }
}

/** Gives all events of the source their position. @returns the last one, in a query of `event_log` */
async function numberEvents(store: Store): Promise<string> {
  const source = await commandDataSource({ store }).initialize();
  try {
    await rejectOlder(source, { store });
    const transactions = new Transactions(source);
    const appender = eventAppender(new Queries(transactions, source), transactions);
    await appender.number();
    return appender.lastPosition;
  } finally {
    await source.destroy();
  }
}

async function copy(source: Contents, target: Contents, lastPosition: string): Promise<void> {
  const sources = new Map((await source.beginReading()).map((table) => [table.name, table]));
  const tables = parentsFirst(await atTarget(() => target.beginWriting()));
  const extra = [...sources.keys()].find((name) => !tables.some((table) => table.name === name));
  if (extra !== undefined) {
    throw new UsageError(
      `The source has a table ${extra} that no migration creates: drop it, or move it to another schema`,
    );
  }
  await requireEmpty(target, tables);

  const [log] = await source.query<{ last: number; unnumbered: number }>(
    `SELECT ${lastPosition} AS last,
      (SELECT count(*) FROM events WHERE position IS NULL) AS unnumbered FROM event_log WHERE id = 1`,
  );
  const { last, unnumbered } = log!;
  if (unnumbered > 0)
    throw new UsageError('The source was written to meanwhile: stop the service, and try again');
  // Before the rows: new events get their ids on PostgreSQL, and SQLite counts positions in the sequence of the table.
  await target.setLastIds((await source.lastIds()).set('events', last));
  for (const table of tables.toReversed()) await clear(target, table);
  for (const table of tables) {
    const from = sources.get(table.name);
    if (!from) continue;
    await copyTable(source, target, from, table).catch((error: unknown) => {
      const { message } = error as Error;
      throw new UsageError(`${table.name} cannot be copied: ${message}; the target stays empty`, {
        cause: error,
      });
    });
  }
  await target.query(`UPDATE event_log SET last_position = ${last} WHERE id = 1`);
  await target.commit();
}

async function copyTable(source: Contents, target: Contents, from: Table, to: Table): Promise<void> {
  // Triggers may have filled it.
  await clear(target, to);
  // An event has an id on PostgreSQL alone.
  const columns = Object.keys(from.types).filter((name) => Object.hasOwn(to.types, name));
  const progress = new Progress(`rows of ${to.name}`, await countRows(source, from));
  let done = 0;
  for await (const { json, count } of source.batches(from, columns)) {
    await target.insert(to, columns, json);
    progress.show((done += count));
  }
  const seconds = progress.end();
  if (done > 0) console.log(`${to.name}: ${countOf(done, 'row')} in ${seconds.toFixed(1)} s`);
}

/** @throws UsageError when a table has more rows than in a new database */
async function requireEmpty(target: Contents, tables: readonly Table[]): Promise<void> {
  const directory = await mkdtemp(join(tmpdir(), 'move-'));
  const fresh = contentsOf({ kind: 'sqlite', directory });
  try {
    await migrate({ store: { kind: 'sqlite', directory } });
    const first = new Map<string, number>();
    for (const table of await fresh.beginReading()) first.set(table.name, await countRows(fresh, table));
    for (const table of tables) {
      const count = await countRows(target, table);
      if (count > (first.get(table.name) ?? 0))
        throw new UsageError(`The target is not empty: ${table.name} has ${countOf(count, 'row')}`);
    }
  } finally {
    await fresh.close();
    await rm(directory, { recursive: true });
  }
}

const clear = (contents: Contents, { name }: Table) => contents.query(`DELETE FROM ${quote(name)}`);

async function countRows(contents: Contents, { name }: Table): Promise<number> {
  const [row] = await contents.query<{ count: number }>(`SELECT count(*) AS count FROM ${quote(name)}`);
  return row!.count;
}
