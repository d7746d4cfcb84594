import { globSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
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
      'public/playground/*.{html,css,js}',
      'schema.gql',
      'docs/graphql.md',
      'docs/playground.png',
      'test/*graphql*.ts',
      'test/{playground,me,connections,posts-connections,event-loop,cors-browser}.e2e-spec.ts',
      'test/recipes/graphql/*.ts',
      'test/recipes/guide/**/*.resolver.ts',
      'test/support/{schema-members.ts,print-schema.mjs}',
      'test/support/fixture/*.resolver.ts',
      'test/extra/graphql-*.ts',
      'bench/posts/{baseline-apollo,baseline-graphql,operations}.ts',
      'tools/make-module/template/*resolver*',
    ],
    packages:
      /^(@nestjs\/(graphql|apollo)|@apollo\/.*|@as-integrations\/.*|graphi?ql(-.*)?|dataloader|mercurius|@urql\/core|react(-dom)?-18|relay-runtime)$/,
    tables: [],
    named: /graphi?ql|schema\.gql|playground|\bGql|QUERY_TOO_COMPLEX|RequestLoader/i,
  },
  'social-login': {
    files: [
      'src/accounts/social/**/*.ts',
      'src/platform/config/social*.ts',
      'web/{shared/login/social.ts,account/sections/identities.tsx}',
      'docs/social-login.md',
      'test/{social-*,identities.e2e-spec}.ts',
      'test/support/social/*.ts',
    ],
    packages: /^(openid-client|oidc-provider)$/,
    tables: ['social_identities'],
    named:
      /[sS]ocial|SOCIAL_|createWithoutPassword|code_?[vV]erifier|code_?[cC]hallenge|WRONG_VERIFIER|(?<![a-z])(?:\\n)?identities\b|\b(an|no) (further )?identity\b|identity-(added|removed)|(GOOGLE|GITHUB)_\w+/,
  },
};

const TEXTS = [
  '{*,{src,test,bench,examples,docs,deploy,web,tools}/**/*}.{ts,tsx,js,mjs,md,html,yaml,yml,json,template}',
  'docs/.vitepress/*.ts',
  'public/{site,playground}/*.{html,js}',
  '.gitattributes',
  '.prettierignore',
];
const EXCLUDED = [
  '**/migrations/*',
  '**/*.d.ts',
  'package-lock.json',
  'test/extra/package*.json',
  'tools/remove/by-hand.ts',
];
/** They say what was decided; only the paths of what is deleted must go. */
const RECORDS = /^docs\/decisions\//;

/** @throws InputError with the list of what a person has to do to remove a part; nothing if there is no such part */
export function rejectPart(name: string): void {
  const part = Object.hasOwn(PARTS, name) ? PARTS[name]! : undefined;
  if (part === undefined) return;
  const own = globSync(part.files);
  const isOwn = new Set(own);
  const lines = globSync(TEXTS, { exclude: EXCLUDED })
    .filter((file) => !isOwn.has(file))
    .flatMap((file) => {
      const found = linesOf(file, part, isOwn);
      return found.length === 0 ? [] : [`${file}:\n${found.map((line) => `    ${line}`).join('\n')}`];
    });
  throw new InputError(`"${name}" is part of many files: nothing was changed. To remove it,

1. Delete its files:
${listOf(own.toSorted())}
2. Change the lines that use or name it; a test that needs it goes as a whole. What uses the values of these lines is
   not listed; the types, the lint and the tests find it:
${listOf(lines)}
3. ${part.tables.length > 0 ? `Drop ${part.tables.join(', ')} by a new migration; its down creates them again, as the migration that did.` : 'It has no tables.'}
4. Run npm install --package-lock-only, npx knip --fix --allow-remove-files, and npm run format. knip only hides what
   nothing else imports: delete what the lint then finds unused, and run knip again.
5. Run npm run contracts and npm run check.`);
}

/** The lines that use or name a part, with their numbers. */
function linesOf(file: string, { packages, named }: Part, isOwn: ReadonlySet<string>): string[] {
  const text = readFileSync(file, 'utf8');
  const isImport = (path: string) =>
    packages.test(path) ||
    isOwn.has(join(file, '..', path)) ||
    ['.ts', '.tsx'].some((suffix) => isOwn.has(join(file, '..', path).replace(/\.js$/, suffix)));
  const used = /\.(js|tsx?)$/.test(file) ? linesUsing(file, text, isImport) : new Set<number>();
  const namesDeleted = (line: string) => [...isOwn].some((path) => line.includes(basename(path)));
  const isListed = (line: string, n: number) =>
    RECORDS.test(file) ? namesDeleted(line) : used.has(n) || named.test(line);
  return text
    .split('\n')
    .flatMap((line, n) => (isListed(line, n) ? [`${n + 1} ${line.trim().slice(0, 100)}`] : []));
}

const listOf = (items: readonly string[]): string => items.map((item) => `- ${item}\n`).join('');
