/**
 * Runs the `system-spec` files of this folder with Vitest: the start and stop of processes on both databases, outages
 * behind a proxy, several processes on one database, and the build. Part of `npm run test:system`.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';

const vitest = spawn(
  process.execPath,
  ['node_modules/vitest/vitest.mjs', 'run', '--config', 'test/system/vitest.config.ts'],
  { stdio: 'inherit' },
);
const [status] = (await once(vitest, 'close')) as [number | null];
process.exit(status ?? 1);
