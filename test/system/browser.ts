/**
 * Runs the tests in a browser, which are named "in a browser" in the test files of the pages, the login and the stream.
 * Part of `npm run test:system`; skipped with a message where there is no Chromium.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chromiumPath } from '../support/browser.ts';

const FILES = [
  'account-management',
  'account-page',
  'browser-login',
  'console',
  'events-pages',
  'cors-browser',
  'events-stream-clients',
  'orders-pages',
  'pages',
  'playground',
  'posts-pages',
  'reference-page',
  'site',
  'webhooks-pages',
];

if (chromiumPath === undefined) {
  console.log('SKIPPED: tests in a browser, because no Chromium was found (set CHROMIUM_PATH)');
  // In CI, the programs are installed.
  process.exit(process.env['CI'] === undefined ? 0 : 1);
}
const jest = spawn(
  process.execPath,
  ['node_modules/jest/bin/jest.js', '-t', 'in a browser', ...FILES.map((name) => `test/${name}.e2e`)],
  { stdio: 'inherit', env: { ...process.env, TEST_BROWSER: 'on' } },
);
const [status] = (await once(jest, 'close')) as [number | null];
process.exit(status ?? 1);
