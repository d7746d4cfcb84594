import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { InputError } from '../make-module/input-error.ts';
import { linesUsing } from './code.ts';

interface Part {
  /** What is deleted. */
  readonly files: readonly string[];
  /** Packages that only it uses. */
  readonly packages: RegExp;
  readonly tables: readonly string[];
  /** How texts name it. */
  readonly named: RegExp;
}

/** What is part of many files: a person removes it, and gets a list. */
const PARTS: Readonly<Record<string, Part>> = {
  graphql: {
    files: [
      'src/platform/graphql/**/*.ts',
      'src/**/*.{resolver,connection}.ts',
      'src/events/graphql/*.ts',
      'public/playground/*.{html,css,js}',
      'schema.gql',
      'docs/graphql.md',
      'test/*graphql*.ts',
      'test/playground.e2e-spec.ts',
      'test/recipes/graphql/*.ts',
      'test/recipes/guide/**/*.resolver.ts',
      'test/support/{schema-members,ticks.module}.ts',
      'test/support/fixture/*.resolver.ts',
      'test/extra/graphql-*.ts',
    ],
    packages: /^(@nestjs\/(graphql|apollo)|@apollo\/.*|@as-integrations\/.*|graphql(-.*)?|dataloader)$/,
    tables: [],
    named: /graphql\.md|GRAPHQL_\w+|schema\.gql|[`'"/]graphql\b|\bapi\.graphql\(/,
  },
  'social-login': {
    files: [
      'src/auth/social/**/*.ts',
      'src/platform/config/social*.ts',
      'web/{shared/login/social.ts,account/sections/identities.tsx}',
      'docs/social-login.md',
      'test/{social-*,identities.e2e-spec}.ts',
      'test/support/social/*.ts',
    ],
    packages: /^(openid-client|oidc-provider)$/,
    tables: ['social_identities'],
    named:
      /[sS]ocial|SOCIAL_|\bidentities\b|\b(an|no) (further )?identity\b|identity-(added|removed)|(GOOGLE|GITHUB)_\w+/,
  },
};

const TEXTS = '{*,{src,test,bench,examples,docs,deploy,web}/**/*}.{ts,tsx,js,md,html,yaml,yml,json}';
const EXCLUDED = ['**/package*.json', '**/migrations/*', '**/decisions/*', '**/*.d.ts'];

/** @throws InputError with the list of what a person has to do to remove a part; nothing if there is no such part */
export function rejectPart(name: string): void {
  const part = Object.hasOwn(PARTS, name) ? PARTS[name]! : undefined;
  if (part === undefined) return;
  const own = globSync(part.files);
  const isOwn = new Set(own);
  const lines = globSync(TEXTS, { exclude: EXCLUDED })
    .filter((file) => !isOwn.has(file))
    .flatMap((file) => linesOf(file, part, isOwn));
  throw new InputError(`"${name}" is part of many files: nothing was changed. To remove it,

1. Delete its files:
${listOf(own.toSorted())}
2. Change the lines that use or name it; a test that needs it goes as a whole:
${listOf(lines)}
3. ${part.tables.length > 0 ? `Drop ${part.tables.join(', ')} by a new migration.` : 'It has no tables.'}
4. Run npx knip --fix --allow-remove-files, npm run contracts and npm run check.`);
}

function linesOf(file: string, { packages, named }: Part, isOwn: ReadonlySet<string>): string[] {
  const text = readFileSync(file, 'utf8');
  const isImport = (path: string) =>
    packages.test(path) ||
    isOwn.has(join(file, '..', path)) ||
    ['.ts', '.tsx'].some((suffix) => isOwn.has(join(file, '..', path).replace(/\.js$/, suffix)));
  const used = /\.(js|tsx?)$/.test(file) ? linesUsing(file, text, isImport) : new Set<number>();
  return text
    .split('\n')
    .flatMap((line, n) =>
      used.has(n) || named.test(line) ? [`${file}:${n + 1} ${line.trim().slice(0, 100)}`] : [],
    );
}

const listOf = (items: readonly string[]): string => items.map((item) => `- ${item}\n`).join('');
