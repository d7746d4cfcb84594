import { AsyncLocalStorage } from 'node:async_hooks';
import Database from 'better-sqlite3';
import { Client } from 'pg';
import { Piscina } from 'piscina';
import { jest } from '@jest/globals';

const work = new AsyncLocalStorage<true>();

/**
 * Returns the texts of all statements that `action` sends to either database, with normalized white space, without
 * those of background work.
 */
export async function statementsOf(action: () => Promise<unknown>): Promise<string[]> {
  const statements: string[] = [];
  const note = (sql: string) => {
    if (work.getStore()) statements.push(sql.replaceAll(/\s+/g, ' ').trim());
  };

  const { query } = Client.prototype as unknown as { query: (...sent: any[]) => unknown };
  const spies = [
    jest.spyOn(Client.prototype, 'query').mockImplementation(function (this: unknown, ...sent: any[]) {
      note(typeof sent[0] === 'string' ? sent[0] : sent[0].text);
      return query.apply(this, sent) as never;
    }),
  ];
  const { run } = Piscina.prototype as unknown as { run: (...sent: any[]) => unknown };
  spies.push(
    // Slow reads of SQLite run in threads.
    jest.spyOn(Piscina.prototype, 'run').mockImplementation(function (this: Piscina, ...sent: any[]) {
      note(sent[0].sql);
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
        note(this.source);
        return original.apply(this, sent);
      } as never) as never,
    );
  }
  try {
    await work.run(true, action);
  } finally {
    for (const spy of spies) spy.mockRestore();
  }
  return statements;
}
