/**
 * Runs the tests in a browser, which are named "in a browser", of all test files that use one.
 * Part of `npm run test:system`; skipped with a message where there is no Chromium.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { globSync, readFileSync } from 'node:fs';
import { chromiumPath } from '../support/browser.ts';

const FILES = globSync('test/*.e2e-spec.ts').filter((file) =>
  /support\/(browser|in-browser|console|events-stream-client)\.js/.test(readFileSync(file, 'utf8')),
);

if (chromiumPath === undefined) {
  console.log('SKIPPED: tests in a browser, because no Chromium was found (set CHROMIUM_PATH)');
  // In CI, the programs are installed.
  process.exit(process.env['CI'] === undefined ? 0 : 1);
}
const jest = spawn(
  process.execPath,
  ['node_modules/jest/bin/jest.js', '-t', 'in a browser', '--runTestsByPath', ...FILES],
  { stdio: 'inherit', env: { ...process.env, TEST_BROWSER: 'on' } },
);
const [status] = (await once(jest, 'close')) as [number | null];
process.exit(status ?? 1);
