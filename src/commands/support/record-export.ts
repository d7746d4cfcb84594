import { createWriteStream } from 'node:fs';
import { rename, rm } from 'node:fs/promises';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { Queries } from '../../database/queries.js';
import { ORDER_COLUMNS } from '../../orders/order.view.js';
import { POST_COLUMNS } from '../../posts/post.view.js';
import { USER_COLUMNS } from '../../users/user.view.js';
import { countOf, Progress } from './progress.js';
import { runDatabaseCommand } from './run-command.js';

/** In an order in which they can be imported again: posts name their authors. */
export const KINDS = ['users', 'posts', 'orders'] as const;
export type Kind = (typeof KINDS)[number];
export const isKind = (name: string): name is Kind => KINDS.includes(name as Kind);

interface Table {
  /** The member `kind` of each line. */
  readonly kind: string;
  readonly columns: readonly string[];
  /** The size of a row in bytes, as SQL: what is in memory at a time is limited. */
  readonly size: string;
  /** Writes a line; by default as JSON. */
  readonly lineOf?: (row: Row) => string;
}

type Row = Record<string, unknown> & { readonly id: number };

const TABLES: Record<Kind, Table> = {
  users: { kind: 'user', columns: Object.keys(USER_COLUMNS), size: '0' },
  posts: { kind: 'post', columns: [...Object.keys(POST_COLUMNS), 'source'], size: 'octet_length(content)' },
  orders: {
    kind: 'order',
    columns: Object.keys(ORDER_COLUMNS),
    size: 'octet_length(payload)',
    // Last and unchanged, so that numbers and the order of members stay as they were sent.
    lineOf: ({ payload, ...row }) =>
      `${JSON.stringify({ kind: 'order', ...row }).slice(0, -1)},"payload":${String(payload).replaceAll(/[\r\n]/g, ' ')}}`,
  },
};

/** Rows in a batch, and their texts in bytes. */
const BATCH = { rows: 1000, bytes: 4 * 1024 * 1024 };

/** @param name a file that does not exist, or `-` for standard output */
export function exportRecords(name: string, kinds: readonly Kind[]): Promise<void> {
  return runDatabaseCommand(
    async (context) => {
      const records = new RecordExport(context.get(Queries));
      const lines = Readable.from(records.lines(kinds), { objectMode: false });
      if (name === '-') return toStandardOutput(lines);
      // Only a complete export gets the name.
      const draft = `${name}.${process.pid}.part`;
      const stop = new AbortController();
      process.once('SIGINT', () => stop.abort());
      try {
        await pipeline(lines, createWriteStream(draft, { flags: 'wx' }), { signal: stop.signal });
        await rename(draft, name);
        return 0;
      } catch (error) {
        await rm(draft, { force: true });
        if (!stop.signal.aborted) throw error;
        console.error('Interrupted; nothing was written');
        return 130;
      }
    },
    { access: 'read' },
  );
}

async function toStandardOutput(lines: Readable): Promise<number> {
  try {
    await pipeline(lines, process.stdout, { end: false });
  } catch (error) {
    // The reader has enough, as in `npm run export -- - | head`.
    if ((error as NodeJS.ErrnoException).code !== 'EPIPE') throw error;
  }
  return 0;
}

/**
 * Reads the rows in batches by their ids. Rows that are created meanwhile are left out, except users, so that every
 * author of a post is in the export.
 */
class RecordExport {
  constructor(private readonly queries: Queries) {}

  async *lines(kinds: readonly Kind[]): AsyncGenerator<string> {
    const ends = new Map<Kind, { last: number; count: number }>();
    for (const kind of kinds) {
      const [end] = await this.queries.all<{ last: number; count: number }>(
        `SELECT coalesce(max(id), 0) AS last, count(*) AS count FROM ${kind}`,
      );
      ends.set(kind, end!);
    }
    for (const [kind, { last, count }] of ends) {
      const progress = new Progress(kind, count);
      let written = 0;
      for await (const rows of this.batches(kind, kind === 'users' ? Number.MAX_SAFE_INTEGER : last)) {
        const { lineOf = jsonLine(TABLES[kind].kind) } = TABLES[kind];
        yield rows.map((row) => `${lineOf(row)}\n`).join('');
        written += rows.length;
        progress.show(written);
      }
      console.error(`${countOf(written, kind.slice(0, -1))} in ${progress.end().toFixed(1)} s`);
    }
  }

  private async *batches(kind: Kind, last: number): AsyncGenerator<Row[]> {
    const { columns, size } = TABLES[kind];
    for (let after = 0; ;) {
      const sizes = await this.queries.all<{ id: number; bytes: number }>(
        `SELECT id, ${size} AS bytes FROM ${kind} WHERE id > :after AND id <= :last ORDER BY id LIMIT ${BATCH.rows}`,
        { after, last },
      );
      if (sizes.length === 0) return;
      for (const end of endsOfParts(sizes)) {
        yield await this.queries.all<Row>(
          `SELECT ${columns.join(', ')} FROM ${kind} WHERE id > :after AND id <= :end ORDER BY id`,
          { after, end },
        );
        after = end;
      }
    }
  }
}

const jsonLine =
  (kind: string) =>
  (row: Row): string =>
    JSON.stringify({ kind, ...row, source: row['source'] ?? undefined });

/** The last ids of parts that fit into a batch. */
function endsOfParts(rows: readonly { readonly id: number; readonly bytes: number }[]): number[] {
  const ends: number[] = [];
  let bytes = 0;
  for (const [n, row] of rows.entries()) {
    bytes += row.bytes;
    if (n < rows.length - 1 && bytes < BATCH.bytes) continue;
    ends.push(row.id);
    bytes = 0;
  }
  return ends;
}
