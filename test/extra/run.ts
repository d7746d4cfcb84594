/**
 * `npm run test:extra`: tries the service with clients and tools of others, which have packages and a lock file of
 * their own, so that `npm ci` does not install them for everybody.
 */
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { globSync, readFileSync, writeFileSync } from 'node:fs';
import { parseCommandLine } from '../../src/commands/support/command-line.ts';
import { chromiumPath } from '../support/browser.ts';

/** What the clients depend on. */
const FILES = ['package.json', 'schema.gql', 'public/openapi.json', 'src/events/*stream*.ts', 'test/extra/*'];
/** The fingerprint of these files when the tests passed for the last time. It is committed with a change of them. */
const PASSED = 'test/extra/passed.sha256';

const { values } = parseCommandLine(
  'Usage: npm run test:extra [-- --if-changed]\n\n  --if-changed  only if what the clients depend on has changed since they passed',
  { options: { 'if-changed': { type: 'boolean', default: false } } },
);

const fingerprint = fingerprintOfFiles();
if (values['if-changed'] && readFileSync(PASSED, 'utf8').trim() === fingerprint) {
  console.log('test:extra has nothing to try: the clients passed with the same files.');
} else {
  run('npm', 'ci', '--prefix', 'test/extra', '--no-audit', '--no-fund');
  run(process.execPath, 'node_modules/typescript-7/bin/tsc', '--noEmit', '-p', 'test/extra/tsconfig.json');
  run(process.execPath, 'node_modules/jest/bin/jest.js', '--config', 'test/extra/jest.config.ts');
  writeFileSync(PASSED, `${fingerprint}\n`);
}

function run(command: string, ...parameters: readonly string[]): void {
  const env = { ...process.env, ...(chromiumPath !== undefined && { TEST_BROWSER: 'on' }) };
  const { status } = spawnSync(command, parameters, { env, stdio: 'inherit' });
  if (status !== 0) process.exit(1);
}

function fingerprintOfFiles(): string {
  const hash = createHash('sha256');
  const isFile = (file: string) => /\.\w+$/.test(file) && file !== PASSED;
  for (const file of globSync(FILES).filter(isFile).toSorted()) hash.update(file).update(readFileSync(file));
  return hash.digest('hex');
}
