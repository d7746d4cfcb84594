/**
 * `npm run make:module -- comments`: creates a module, which is served at once. `--help` lists the options.
 *
 * It prints everything that it creates or changes; it changes nothing if the name cannot be used.
 */
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { parseCommandLine } from '../src/commands/support/command-line.ts';
import { register, renewContracts, write } from './make-module/files.ts';
import { type Names, pascal, singularOf, snake, wordsOf } from './make-module/names.ts';
import { findParent, ON_DELETE, type OnDelete } from './make-module/parent.ts';
import { InputError } from './make-module/input-error.ts';
import { createdBy } from './remove/tables.ts';

const PLAIN = 'tools/make-module/template';
const NESTED = 'tools/make-module/nested-template';

/** Names with another meaning, here or in the languages of a module. */
const RESERVED =
  /^(admin|auth|cursor|docs|graphql|health|me|migrations|open-?api|types?|news|class|enum|function|import|index|interface|null|order|queries|query|string|true|void)$/;

const USAGE = `Usage: npm run make:module -- <names> [options]

Creates a module with a table, REST and GraphQL handlers, and tests; <names> is its plural, such as "comments".

  --singular <name>    Its singular, where that is not regular: people --singular person
  --parent <names>     Nests it in another module: /v1/posts/{postId}/comments, and Post.comments over GraphQL
  --owner account      Rows belong to the account that creates them; it and staff may change and delete them.
                       --parent and --owner go together
  --on-delete <rule>   Of a parent: "cascade" deletes its rows (the default), "restrict" keeps it from being deleted`;

async function main(): Promise<void> {
  const { values, positionals } = parseCommandLine(USAGE, {
    options: {
      singular: { type: 'string' },
      parent: { type: 'string' },
      owner: { type: 'string' },
      'on-delete': { type: 'string' },
    },
    allowPositionals: true,
  });
  const [files = '', ...more] = positionals;
  if (files === '' || more.length > 0) throw new InputError(USAGE);
  const { parent, owner, 'on-delete': onDelete = 'cascade' } = values;
  if ((parent === undefined) !== (owner === undefined))
    throw new InputError('--parent and --owner go together');
  if (owner !== undefined && owner !== 'account') throw new InputError('--owner must be "account"');
  if (!isOnDelete(onDelete)) throw new InputError('--on-delete must be "cascade" or "restrict"');
  if (parent === undefined && values['on-delete'] !== undefined)
    throw new InputError('--on-delete needs --parent');
  const names = { files, file: values.singular ?? singularOf(files) };
  check(names);

  const words = wordsFor(names, parent, onDelete);
  for (const [template, target] of targets(words)) write(target, fill(read(`${template}.template`), words));
  register(files, words['Names']!);
  execFileSync('npx', ['prettier', '--write', '--log-level', 'warn', 'src', 'test']);
  renewContracts();
  console.log(nextSteps(names, words));
}

const isOnDelete = (text: string): text is OnDelete => Object.hasOwn(ON_DELETE, text);

/** The first start runs the migration, which must not change afterwards: add the fields before. */
const nextSteps = ({ files }: Names, { stamp, parents, onDelete }: Record<string, string>): string => `
Next:
1. Give it your own fields, in src/${files} and src/platform/database/migrations/${stamp}-${files}.ts
   (docs/extending.md, "Add a field"). Change the migration only as long as nothing has run it:
   "npm start" does; "npm run typeorm -- migration:revert" takes it back.
2. npm run contracts && npm test -- ${files}
3. npm run check, then npm start${
  onDelete === 'RESTRICT'
    ? `\n\nDeleting one of ${parents} may be a 409 now: declare it at that handler, with @Throws({ CONFLICT: … }).`
    : ''
}`;

function check({ files, file }: Names): void {
  for (const name of [files, file]) {
    if (!/^[a-z]+(-[a-z]+)*$/.test(name)) {
      throw new InputError(
        `"${name}" cannot be a name: it takes small letters, with single hyphens between words`,
      );
    }
    if (RESERVED.test(name)) throw new InputError(`"${name}" means something else already`);
  }
  if (files === file)
    throw new InputError(
      `"${files}" does not look like a plural; say what one is: npm run make:module -- ${files} --singular …`,
    );
  if (files.length > 40) throw new InputError(`"${files}" is too long: 40 letters at most`);
  const taken = [`src/${files}`, `test/${files}.e2e-spec.ts`].find(existsSync);
  if (taken) throw new InputError(`"${files}" is taken: there is ${taken} already`);
  const types = readFileSync('schema.gql', 'utf8');
  if (new RegExp(`^(type|input|enum|scalar) ${pascal(file)}\\b`, 'm').test(types)) {
    throw new InputError(`"${file}" is taken: the schema has a type ${pascal(file)} already`);
  }
  const table = snake(files);
  if (createdBy(table) !== undefined)
    throw new InputError(`"${files}" is taken: there is a table ${table} already`);
}

/** The variables of the templates. */
function wordsFor(names: Names, parent: string | undefined, onDelete: OnDelete): Record<string, string> {
  const words = { ...wordsOf(names), stamp: String(Date.now()) };
  if (parent === undefined) return words;
  const all = { ...words, ...findParent(parent, onDelete) };
  return { ...all, deletionTest: fill(read(`${NESTED}/deletion-${onDelete}.template`), all) };
}

/** The files of a module, with the folder of their templates. */
function targets({
  files,
  file,
  stamp,
  parentFile,
}: Record<string, string>): [template: string, target: string][] {
  const from = parentFile === undefined ? PLAIN : NESTED;
  return [
    [`${from}/entity.ts`, `src/${files}/${file}.entity.ts`],
    [`${from}/events.ts`, `src/${files}/${file}.events.ts`],
    [`${PLAIN}/input.ts`, `src/${files}/${file}.input.ts`],
    [`${from}/view.ts`, `src/${files}/${file}.view.ts`],
    [`${from}/service.ts`, `src/${files}/${files}.service.ts`],
    [`${from}/controller.ts`, `src/${files}/${files}.controller.ts`],
    [`${from}/resolver.ts`, `src/${files}/${files}.resolver.ts`],
    ...(parentFile === undefined
      ? []
      : [
          [`${from}/parent-resolver.ts`, `src/${files}/${parentFile}-${files}.resolver.ts`] as [
            string,
            string,
          ],
        ]),
    [`${from}/module.ts`, `src/${files}/${files}.module.ts`],
    [`${from}/migration.ts`, `src/platform/database/migrations/${stamp}-${files}.ts`],
    [`${from}/e2e-spec.ts`, `test/${files}.e2e-spec.ts`],
  ];
}

const fill = (text: string, words: Record<string, string>): string =>
  text.replaceAll(/\{\{(\w+)\}\}/g, (_, word: string) => words[word]!);

const read = (file: string): string => readFileSync(file, 'utf8');

try {
  await main();
} catch (error) {
  if (!(error instanceof InputError)) throw error;
  console.error(error.message);
  process.exitCode = 1;
}
