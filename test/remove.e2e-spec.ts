import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { CopyOfProject } from './support/copy-of-project.js';

/** `npm run test:extra` removes modules, with all checks. */
describe('npm run remove', () => {
  let copy: CopyOfProject;
  beforeAll(() => {
    copy = new CopyOfProject();
  });
  afterAll(() => copy.remove());

  it.each([
    ['nothing', [], 'Usage'],
    ['a list with a module that does not exist', ['audit', 'dogs'], '"dogs" cannot be removed'],
    ['an unknown flag', ['cats', '--force'], 'Unknown option'],
    ['a module that others use', ['accounts'], 'it is used by'],
    ['a module that does not exist', ['cats'], 'does not list it'],
    ['GraphQL', ['graphql'], '- src/accounts/account.resolver.ts\n'],
    ['social login', ['audit', 'social-login'], '- src/accounts/cookie/cookie.module.ts:'],
    ['social login, whose mails others send', ['social-login'], '- src/accounts/mail-texts.ts:'],
    ['a path', ['../src/audit'], 'does not list it'],
    ['a module without tables and a guide of its own', ['health'], 'neither tables nor a guide'],
  ])('rejects %s, and changes nothing', async (_, parameters, message) => {
    const contents = () => [
      ...readdirSync(join(copy.folder, 'src')),
      ...readdirSync(join(copy.folder, 'src/platform/database/migrations')),
      readFileSync(join(copy.folder, 'src/app.module.ts'), 'utf8'),
    ];
    const before = contents();

    const { code, output } = await copy.run('npm', 'run', '--silent', 'remove', '--', ...parameters);

    expect(code).toBe(1);
    expect(output).toContain(message);
    expect(output).not.toContain('    at ');
    expect(contents()).toEqual(before);
  });
});
