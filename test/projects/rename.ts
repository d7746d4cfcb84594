/**
 * Renames a copy of the project, as docs/your-own-service.md says: nothing has the former name, and the checks and the
 * tests that read the name pass. Part of `npm run test:extra`.
 */
import { globSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { CopyOfProject } from '../support/copy-of-project.ts';

const TESTS = [
  'account-page',
  'deploy',
  'mail',
  'monitoring',
  'pages',
  'passkeys.e2e',
  'rate-limit',
  'reference',
  'site',
  'src/platform/config',
  'upgrading',
  'webhooks',
];

/** Files whose task is to tell both names. */
const KEEPS = /^(docs\/your-own-service\.md|test\/projects\/rename\.ts|tools\/rename\.ts|CHANGELOG\.md)$/;

const copy = CopyOfProject.untilExit();
const { title } = JSON.parse(readFileSync('package.json', 'utf8')) as { title: string };
const former = new RegExp(title.replaceAll(' ', '[-_ ]?'), 'i');
await copy.script('rename', 'Invoices and Receipts API');
const left = globSync('**', {
  cwd: copy.folder,
  exclude: ['node_modules', 'node_modules/**', 'dist/**', 'public/guides/**'],
}).filter((file) => {
  const path = join(copy.folder, file);
  if (KEEPS.test(file) || file.endsWith('.png') || !statSync(path).isFile()) return false;
  return former.test(file) || former.test(readFileSync(path, 'utf8'));
});
if (left.length > 0) throw new Error(`These files have the former name: ${left.join(', ')}`);
console.log('Nothing has the former name');
const contracts = ['schema.gql', 'public/openapi.json', 'examples/client/api.d.ts'].map((file) =>
  join(copy.folder, file),
);
const before = contracts.map((file) => readFileSync(file, 'utf8'));
await copy.script('contracts');
if (contracts.some((file, n) => readFileSync(file, 'utf8') !== before[n]))
  throw new Error('The contracts have changed');
await copy.check(['format', 'types', 'openapi'], 'under another name');
await copy.test(...TESTS);
console.log('The tests pass');
