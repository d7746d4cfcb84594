import { mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { CopyOfProject } from './support/copy-of-project.js';

/** The decisive lines of a module that GraphQL does not list. */
const UNLISTED = [
  ['boxes.module.ts', 'exports: [BoxesService]'],
  ['boxes.controller.ts', "@Controller({ path: 'boxes', version: '1' })"],
  ['box.entity.ts', "@Entity('boxes')"],
  ['box.view.ts', 'id!: number'],
] as const;

/** A module that the service does not have, whatever a team adds. */
const FREE = 'unused-names';

/** `npm run test:extra` tests the generated module, with all checks. */
describe('npm run make:module', () => {
  let copy: CopyOfProject;
  beforeAll(() => {
    copy = new CopyOfProject();
    for (const [file, text] of UNLISTED) {
      mkdirSync(join(copy.folder, 'src/boxes'), { recursive: true });
      writeFileSync(join(copy.folder, 'src/boxes', file), text);
    }
  });
  afterAll(() => copy.remove());

  const makeModule = (...parameters: string[]) =>
    copy.run('npm', 'run', '--silent', 'make:module', '--', ...parameters);

  it.each([
    ['nothing', [], 'Usage'],
    ['an existing module', ['posts'], 'taken: there is src/posts'],
    ['an existing type', [FREE, '--singular', 'account'], 'the schema has a type Account'],
    ['an existing table', ['idempotency-records'], 'there is a table idempotency_records'],
    ['capital letters', ['Unused'], 'cannot be a name'],
    ['a path', ['../unused-names'], 'cannot be a name'],
    ['a singular', ['unused-name'], 'does not look like a plural'],
    ['a word of the language', ['enums'], 'means something else'],
    ['a resource of the tests', ['dummies'], 'means something else'],
    ['an unknown flag', [FREE, '--force'], 'Unknown option'],
    ['a type that does not exist', [FREE, 'due:time'], 'its type must be text, text(200), int,'],
    ['a list of another type', [FREE, 'rating:int(5)'], 'its type must be'],
    ['a field without a type', [FREE, 'title'], 'write <name>:<type>'],
    ['a field of two words', [FREE, 'due_at:date'], 'with a name of small letters only'],
    ['a column of every module', [FREE, 'version:int'], '"version" cannot be a field'],
    ['a column of the database', [FREE, 'xmin:int'], '"xmin" cannot be a field'],
    ['the parent as a field', [FREE, 'post:text', '--parent', 'posts'], '"post" cannot be a field'],
    ['a field twice', [FREE, 'title:text due:date', 'title:int'], '"title" cannot be two fields'],
    ['too many fields', [FREE, 'abcdefghijklmnopqrstu'.replaceAll(/./g, '$&:int ')], '20 at most'],
    ['a text that is too long', [FREE, 'title:text(10001)'], 'must be 10 to 10000 characters'],
    ['an enum of one word', [FREE, 'status:enum(open)'], 'at least two words'],
    ['an enum with a word that GraphQL forbids', [FREE, 'status:enum(true,false)'], 'at least two words'],
    [
      'an enum of an existing type',
      [FREE, '--singular', 'date', 'time:enum(a,b)'],
      'DateTime, which is taken',
    ],
    ['an enum with the type of a view', [FREE, 'view:enum(list,board)'], 'UnusedNameView, which is taken'],
    ['an invalid owner', [FREE, '--parent', 'posts', '--owner', 'user'], 'must be "account"'],
    [
      'a parent that does not exist',
      [FREE, '--parent', 'cats', '--owner', 'account'],
      'there is no src/cats',
    ],
    ['a parent without a list', [FREE, '--parent', 'boxes', '--owner', 'account'], 'does not list them'],
    [
      'an invalid rule for deletion',
      [FREE, '--parent', 'posts', '--owner', 'account', '--on-delete', 'x'],
      'must be "cascade" or "restrict"',
    ],
  ])('rejects %s, and changes nothing', async (_, parameters, message) => {
    const before = readdirSync(join(copy.folder, 'src'));

    const { code, output } = await makeModule(...parameters);

    expect(code).toBe(1);
    expect(output).toContain(message);
    expect(output).not.toContain('    at ');
    expect(readdirSync(join(copy.folder, 'src'))).toEqual(before);
  });

  it('prints its help', async () => {
    expect(await makeModule('--help')).toMatchObject({
      code: 0,
      output: expect.stringMatching(/enum\(open,done\)[^]*--on-delete/),
    });
  });
});
