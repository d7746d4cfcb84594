import { expect } from '@jest/globals';
import { MetricsServer } from '../../src/platform/operations/metrics-server.js';
import type { TestApi } from './api.js';

/** Returns the samples of a scrape in the Prometheus text format, by name with labels. */
export async function scrape(api: TestApi): Promise<Map<string, number>> {
  const response = await fetch(api.app.get(MetricsServer).url!);
  expect(response.status).toBe(200);
  expect(response.headers.get('content-type')).toMatch(/^text\/plain; version=0\.0\.4/);
  const lines = (await response.text()).split('\n').filter((line) => line !== '' && !line.startsWith('#'));
  return new Map(
    lines.map((line) => [line.slice(0, line.lastIndexOf(' ')), Number(line.split(' ').at(-1))] as const),
  );
}

/** The plan of a statement, as text, with an index if it has one. */
export const planOf = (api: TestApi, sql: string): Promise<string> =>
  api.rows.run(async (manager) => {
    const isSqlite = api.config.store.kind === 'sqlite';
    // For an empty table, an index never pays.
    if (!isSqlite) await manager.query('SET LOCAL enable_seqscan = off');
    return JSON.stringify(
      await manager.query(`${isSqlite ? 'EXPLAIN QUERY PLAN' : 'EXPLAIN (COSTS OFF)'} ${sql}`),
    );
  });
