/**
 * `npm run make:module -- comments`: creates a module, which is served at once. `--help` lists the options.
 *
 * It prints everything that it creates or changes; it changes nothing if the name cannot be used.
 */
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { parseCommandLine } from '../src/commands/support/command-line.ts';
import { register, renewContracts, showInConsole, write } from './make-module/files.ts';
import { fillTemplate, type Words } from './make-module/fill.ts';
import { wordsOfFields } from './make-module/fields.ts';
import { type Names, pascal, singularOf, snake, wordsOf } from './make-module/names.ts';
import { findParent, ON_DELETE, type OnDelete } from './make-module/parent.ts';
import { InputError } from './make-module/input-error.ts';
import { createdBy } from './remove/tables.ts';

/** Names with another meaning, here, in the tests of the platform, or in the languages of a module. */
const RESERVED =
  /^(admin|auth|cursor|docs|graphql|health|me|migrations|open-?api|types?|news|class|enum|function|import|index|interface|null|order|queries|query|dummy|dummies|string|stubs?|true|void)$/;

const USAGE = `Usage: npm run make:module -- <names> [fields] [options]

Creates a module with a table, REST and GraphQL handlers, and tests; <names> is its plural, such as "comments".

Fields are <name>:<type>; without any, it has text:text. Quote them: 'title:text(200) rating:int? status:enum(open,done)'
  text, text(200)      1 to 1000 characters, or another maximum
  int, number          A whole number of 32 bits; any number
  boolean, date        True or false; a time (RFC 3339)
  enum(open,done)      One of these words
  ?                    After the type: may be empty, and null clears it

  --singular <name>    Its singular, where that is not regular: people --singular person
  --parent <names>     Nests it in another module: /v1/posts/{postId}/comments, and Post.comments over GraphQL
  --owner account      Rows belong to the account that creates them: everyone may read them, it and staff may change and
                       delete them. Without, WRITE_ACCESS decides who may write
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
  const [files = '', ...fields] = positionals
    .flatMap((text) => text.split(/\s+/))
    .filter((text) => text !== '');
  if (files === '') throw new InputError(USAGE);
  const { parent, owner, 'on-delete': onDelete = 'cascade' } = values;
  if (owner !== undefined && owner !== 'account') throw new InputError('--owner must be "account"');
  if (!isOnDelete(onDelete)) throw new InputError('--on-delete must be "cascade" or "restrict"');
  if (parent === undefined && values['on-delete'] !== undefined)
    throw new InputError('--on-delete needs --parent');
  const names = { files, file: values.singular ?? singularOf(files) };
  check(names);

  const parentWords = parent === undefined ? {} : findParent(parent, onDelete);
  const ofFields = wordsOfFields(fields, pascal(names.file), parentWords['parent']);
  const words = { ...wordsFor(names, owner, parentWords), ...ofFields.words };
  for (const [template, target] of targets(words)) {
    const text = readFileSync(`tools/make-module/template/${template}.template`, 'utf8');
    write(target, fillTemplate(text, words, ofFields.lists));
  }
  register(files, pascal(files));
  if (parent === undefined) showInConsole(files);
  execFileSync('npx', ['prettier', '--write', '--log-level', 'warn', 'src', 'test', 'web/admin']);
  renewContracts();
  console.log(nextSteps(names, words));
}

const isOnDelete = (text: string): text is OnDelete => Object.hasOwn(ON_DELETE, text);

/** The first start runs the migration, which must not change afterwards: add the fields before. */
const nextSteps = ({ files }: Names, { stamp, parents, restrict }: Words): string => `
Next:
1. Change its fields as you need them, in src/${files} and src/platform/database/migrations/${stamp}-${files}.ts
   (docs/extending.md, "Add a field"). Change the migration only as long as nothing has run it:
   "npm start" does; "npm run typeorm -- migration:revert" takes it back.
2. npm run contracts && npm test -- ${files}
3. npm run check, then npm start${
  restrict
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

/** The variables of the templates, apart from fields. */
function wordsFor(names: Names, owner = '', parentWords: Words): Words {
  const words: Words = { ...wordsOf(names), ...parentWords, owner, stamp: String(Date.now()) };
  const { Name, files, parents = '', parentId } = words;
  return {
    ...words,
    /** Whether it has foreign keys. */
    keys: owner || parents,
    as: owner && ', author',
    with: owner && '...author, ',
    ...(parents
      ? {
          key: 'key',
          Key: `${Name}Key`,
          where: '{ ...key }',
          idKey: '{ id }',
          fullKey: `{ ${parentId}, id }`,
          collection: `\`/v1/${parents}/\${${parentId}}/${files}\``,
          createIn: 'collection',
          closedPath: 'closedPath',
        }
      : {
          key: 'id',
          Key: 'number',
          where: '{ id }',
          idKey: 'id',
          fullKey: 'id',
          collection: `'/v1/${files}'`,
          createIn: 'path',
          closedPath: 'path',
        }),
  };
}

/** The files of a module, by their templates. */
const targets = ({ files, file, stamp, parent, parentFile }: Words): [template: string, target: string][] => [
  ['entity.ts', `src/${files}/${file}.entity.ts`],
  ['events.ts', `src/${files}/${file}.events.ts`],
  ['input.ts', `src/${files}/${file}.input.ts`],
  ['view.ts', `src/${files}/${file}.view.ts`],
  ['service.ts', `src/${files}/${files}.service.ts`],
  ['controller.ts', `src/${files}/${files}.controller.ts`],
  ['resolver.ts', `src/${files}/${files}.resolver.ts`],
  ...(parent
    ? [['parent-resolver.ts', `src/${files}/${parentFile}-${files}.resolver.ts`] as [string, string]]
    : []),
  ['module.ts', `src/${files}/${files}.module.ts`],
  ['migration.ts', `src/platform/database/migrations/${stamp}-${files}.ts`],
  ['e2e-spec.ts', `test/${files}.e2e-spec.ts`],
];

try {
  await main();
} catch (error) {
  if (!(error instanceof InputError)) throw error;
  console.error(error.message);
  process.exitCode = 1;
}
