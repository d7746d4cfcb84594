/**
 * Measures whether GraphQL documents that are refused take linear time: each kind is sent with a quarter of its length
 * and with all of it, in turn. Linear time has a ratio of 4, quadratic time one of 16.
 *
 *     npm run bench:documents [-- --rounds 9]
 */
import { parseCommandLine } from '../src/commands/support/command-line.ts';
import { fill, onEachStore } from './support/databases.ts';
import { Server } from './support/server.ts';
import { spread, table } from './support/statistics.ts';

const GOAL = 8;

const many = (count: number, text: (n: number) => string) =>
  Array.from({ length: count }, (_, n) => text(n)).join(' ');

/** Documents by their number of parts. */
const KINDS: Record<string, (count: number) => string> = {
  'nested fragments': (count) =>
    `{ ...F0 } ${many(count / 8, (n) => `fragment F${n} on Query{...F${n + 1} ...F${n + 1}}`)} fragment F${count / 8} on Query { me { id } }`,
  aliases: (count) => `{ ${many(count / 4, (n) => `a${n}:__typename`)} }`,
  directives: (count) => `{ me { id ${'@a '.repeat(count * 2)} } }`,
  'repeated spreads of one fragment': (count) =>
    `{ me { ${'...F '.repeat(count / 2)} } } fragment F on Account { ${many(count / 2, (n) => `n${n}`)} }`,
  'nested inline fragments': (count) => `{ ${'...{'.repeat(count)} me { id } ${'}'.repeat(count)} }`,
  'nested selections': (count) => `${'{users'.repeat(count / 2)} { id } ${'}'.repeat(count / 2)}`,
};
const PARTS = 8000;

const { values } = parseCommandLine('Usage: npm run bench:documents [-- --rounds 9]', {
  options: { rounds: { type: 'string', default: '9' } },
});

const rows: string[][] = [];
await onEachStore('SQLite', async (_, environment) => {
  fill(environment);
  // With no limit on tokens: it would refuse them before anything else looks at them.
  const server = await Server.service({ ...environment, GRAPHQL_MAX_TOKENS: '100000' });
  for (const [kind, document] of Object.entries(KINDS)) {
    const [short, long]: [number[], number[]] = [[], []];
    for (let round = -2; round < Number(values.rounds); round++) {
      const taken = [await send(server, document(PARTS / 4)), await send(server, document(PARTS))] as const;
      if (round < 0) continue;
      short.push(taken[0]);
      long.push(taken[1]);
    }
    const [quarter, whole] = [spread(short).median, spread(long).median];
    rows.push([kind, `${quarter.toFixed(1)} ms`, `${whole.toFixed(1)} ms`, (whole / quarter).toFixed(1)]);
  }
  await server.stop();
});
console.log(table(['kind', 'a quarter', 'all', `ratio, goal ${GOAL}`], rows));
process.exit(rows.every(([, , , ratio]) => Number(ratio) <= GOAL) ? 0 : 1);

/** @returns milliseconds */
async function send({ url }: Server, query: string): Promise<number> {
  const start = performance.now();
  const response = await fetch(`${url}/graphql`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ query }),
  });
  const { errors } = (await response.json()) as { errors?: { extensions: { code: string } }[] };
  if (!/QUERY_TOO_COMPLEX|BAD_USER_INPUT/.test(errors?.[0]?.extensions.code ?? ''))
    throw new Error(`The document was not refused: ${query.slice(0, 100)}`);
  return performance.now() - start;
}
