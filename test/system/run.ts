/**
 * Runs the tests that need whole processes or other programs: each script of this folder, one after the other.
 *
 *     npm run test:system [-- --only proxy,drain --rounds 50]
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync } from 'node:fs';
import { basename, join } from 'node:path';
import { parseCommandLine } from '../../src/commands/support/command-line.ts';

const folder = import.meta.dirname;
const names = readdirSync(folder)
  .filter((file) => file.endsWith('.ts'))
  .map((file) => basename(file, '.ts'))
  .filter((name) => name !== 'run' && !name.includes('.'))
  .toSorted();

const { values } = parseCommandLine(
  `Usage: npm run test:system [-- --only NAMES --rounds N]

Runs the tests that need whole processes or other programs: ${names.join(', ')}.
--only   runs only these, separated by commas
--rounds how often \`drain\` stops the service (default: 50)`,
  { options: { only: { type: 'string' }, rounds: { type: 'string', default: '50' } } },
);
const only = values.only?.split(',') ?? names;
const unknown = only.filter((name) => !names.includes(name));
if (unknown.length > 0) {
  console.error(`Unknown system tests: ${unknown.join(', ')}. Available: ${names.join(', ')}`);
  process.exit(2);
}

const failed: string[] = [];
let skipped = 0;
for (const name of only) {
  console.log(`\n${name}`);
  const parameters = name === 'drain' ? ['--rounds', values.rounds] : [];
  const test = spawn(process.execPath, ['--no-warnings', join(folder, `${name}.ts`), ...parameters], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let isSkipped = false;
  test.stdout.on('data', (chunk: Buffer) => {
    isSkipped ||= chunk.includes('SKIPPED');
    process.stdout.write(chunk);
  });
  const [status] = (await once(test, 'close')) as [number | null];
  if (status !== 0) failed.push(name);
  else if (isSkipped) skipped++;
}
console.log(
  `\nSystem tests: ${only.length - failed.length - skipped} passed, ${failed.length} failed, ${skipped} skipped`,
);
if (failed.length > 0) console.log(`Failed: ${failed.join(', ')}`);
process.exit(failed.length > 0 ? 1 : 0);
