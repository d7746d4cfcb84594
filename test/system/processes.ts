/**
 * Runs the `system-spec` files of this folder with Jest: the start and stop of processes on both databases, outages
 * behind a proxy, several processes on one database, and the build. Part of `npm run test:system`.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';

const jest = spawn(
  process.execPath,
  ['node_modules/jest/bin/jest.js', '--config', 'test/system/jest.config.ts'],
  { stdio: 'inherit' },
);
const [status] = (await once(jest, 'close')) as [number | null];
process.exit(status ?? 1);
