/**
 * Plants tests that must fail a run of Jest in a copy of the project, and checks the exit status and the message of each
 * run. Part of `npm run test:system`, because each run starts Jest again.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { CopyOfProject } from '../support/copy-of-project.ts';
import { startPostgres } from '../support/postgres-server.ts';

interface Plant {
  /** The code of the test file after its imports; without code, there is no file. */
  readonly code?: string;
  /** Part of the output of Jest. */
  readonly output: string;
  readonly parameters?: readonly string[];
  readonly passes?: boolean;
}

const LATE = `it('passes', () => void setTimeout(() => Promise.reject(new Error('Too late')), 50));`;

const PLANTS: Record<string, Plant> = {
  'a passing test': { code: `it('passes', () => {});`, output: '1 passed, 1 total', passes: true },
  'a failing test': { code: `it('fails', () => expect(1).toBe(2));`, output: 'Expected: 2' },
  'a failing matcher of the project': {
    code: `it('fails', () => expect({ status: 200 }).toHaveStatus(404));`,
    output: 'expected status 404',
  },
  'a syntax error': { code: `it('fails', () => {;`, output: 'Expected' },
  'a missing import': { code: `import './missing.js';\nit('passes', () => {});`, output: 'missing.js' },
  'an error while the file is loaded': { code: `throw new Error('On load');`, output: 'On load' },
  'no test files': { output: 'No tests found' },
  'a file without tests': { code: '', output: 'must contain at least one test' },
  'an unhandled rejection': {
    code: `it('fails', () => void Promise.reject(new Error('Unhandled')));`,
    output: 'Unhandled',
  },
  'an unhandled rejection after the last test': { code: LATE, output: 'Too late' },
  'an unhandled rejection after the last test in one process': {
    code: LATE,
    output: 'Too late',
    parameters: ['--runInBand'],
  },
  'a hanging test': { code: `it('hangs', () => new Promise(() => {}), 200);`, output: 'Exceeded timeout' },
  'a hanging hook': {
    code: `beforeAll(() => new Promise(() => {}), 200);\nit('passes', () => {});`,
    output: 'Exceeded timeout',
  },
  ...Object.fromEntries(
    ['beforeAll', 'beforeEach', 'afterEach', 'afterAll'].map((hook) => [
      `a failing ${hook}`,
      {
        code: `${hook}(() => { throw new Error('In a hook'); });\nit('passes', () => {});`,
        output: 'In a hook',
      },
    ]),
  ),
  'process.exit in a test': { code: `it('exits', () => process.exit(0));`, output: 'process.exit' },
  'process.exit in a test that catches errors': {
    code: `it('exits', () => { try { process.exit(0); } catch {} });`,
    output: 'process.exit',
    parameters: ['--runInBand'],
  },
  'a killed process': {
    code: `it('dies', () => { process.kill(process.pid, 'SIGKILL'); });`,
    output: 'SIGKILL',
  },
  'jest.mock': { code: `it('mocks', () => { jest.doMock('node:fs'); });`, output: 'not supported' },
  coverage: { code: `it('passes', () => {});`, output: 'not supported', parameters: ['--coverage'] },
};

const copy = CopyOfProject.untilExit();
const folder = join(copy.folder, 'test/planted');
mkdirSync(folder);
const names = Object.keys(PLANTS);
names.forEach((name, index) => {
  const { code } = PLANTS[name]!;
  if (code === undefined) return;
  const imports = `import { afterAll, afterEach, beforeAll, beforeEach, expect, it, jest } from '@jest/globals';`;
  writeFileSync(join(folder, `plant-${index}.spec.ts`), `${imports}\n${code}\n`);
});

const server = await startPostgres();
const wrong: string[] = [];
try {
  for (const [index, name] of names.entries()) {
    const { output: expected, parameters = [], passes = false } = PLANTS[name]!;
    const { status, output } = await runJest(`planted/plant-${index}.spec`, ...parameters);
    if ((status === 0) === passes && output.includes(expected)) {
      console.log(`${passes ? 'passes' : 'fails'} as it must: ${name}`);
    } else {
      console.log(`WRONG: ${name} ended with ${status}:\n${output}`);
      wrong.push(name);
    }
  }
} finally {
  await server.stop();
}
if (wrong.length > 0) console.log(`Wrong: ${wrong.join(', ')}`);
process.exit(wrong.length > 0 ? 1 : 0);

async function runJest(...parameters: string[]): Promise<{ status: number | null; output: string }> {
  const child = spawn(process.execPath, ['node_modules/jest/bin/jest.js', ...parameters], {
    cwd: copy.folder,
    env: { ...process.env, TEST_DATABASE_URL: server.url },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (output += chunk));
  const [status] = (await once(child, 'close')) as [number | null];
  return { status, output };
}
