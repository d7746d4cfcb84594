import { AsyncLocalStorage } from 'node:async_hooks';
import Database from 'better-sqlite3';
import { Client } from 'pg';
import { Piscina } from 'piscina';
import { jest } from '@jest/globals';

const work = new AsyncLocalStorage<true>();

interface SentStatement {
  /** The text, with normalized white space. */
  readonly sql: string;
  readonly values: readonly unknown[];
}

/**
 * Returns the texts of all statements that `action` sends to either database, with normalized white space, without
 * those of background work.
 */
export async function statementsOf(action: () => Promise<unknown>): Promise<string[]> {
  const statements: string[] = [];
  const stop = watchStatements(({ sql }) => {
    if (work.getStore()) statements.push(sql);
  });
  try {
    await work.run(true, action);
  } finally {
    stop();
  }
  return statements;
}

/**
 * Calls `note` for each statement that is sent to either database, until the returned function is called. It watches
 * the drivers, not the service.
 */
function watchStatements(note: (statement: SentStatement) => void): () => void {
  const pass = (sql: string, values: readonly unknown[]) =>
    note({ sql: sql.replaceAll(/\s+/g, ' ').trim(), values });
  const { query } = Client.prototype as unknown as { query: (...sent: any[]) => unknown };
  const spies = [
    jest.spyOn(Client.prototype, 'query').mockImplementation(function (this: unknown, ...sent: any[]) {
      const [first, values] = sent;
      if (typeof first === 'string') pass(first, Array.isArray(values) ? values : []);
      else pass(first.text, first.values ?? []);
      return query.apply(this, sent) as never;
    }),
  ];
  const { run } = Piscina.prototype as unknown as { run: (...sent: any[]) => unknown };
  spies.push(
    // Slow reads of SQLite run in threads.
    jest.spyOn(Piscina.prototype, 'run').mockImplementation(function (this: Piscina, ...sent: any[]) {
      pass(sent[0].sql, sent[0].parameters ?? []);
      return run.apply(this, sent) as never;
    }) as never,
  );
  const memory = new Database(':memory:');
  const statement = Object.getPrototypeOf(memory.prepare('SELECT 1')) as Record<
    string,
    (...sent: any[]) => any
  >;
  memory.close();
  for (const method of ['run', 'all', 'get']) {
    const original = statement[method]!;
    spies.push(
      jest.spyOn(statement, method).mockImplementation(function (this: { source: string }, ...sent: any[]) {
        // Values by name, or in order.
        pass(
          this.source,
          sent.flatMap((each) => (each instanceof Object ? Object.values(each) : [each])),
        );
        return original.apply(this, sent);
      } as never) as never,
    );
  }
  return () => {
    for (const spy of spies) spy.mockRestore();
  };
}

/** Collects the ids of each statement that loads texts of dummies. */
export function watchTexts(): {
  readonly loaded: readonly (readonly number[])[];
  readonly stop: () => void;
} {
  const loaded: number[][] = [];
  const stop = watchStatements(({ sql, values }) => {
    if (sql.startsWith('SELECT id, text FROM dummies')) loaded.push(JSON.parse(String(values[0])));
  });
  return { loaded, stop };
}
