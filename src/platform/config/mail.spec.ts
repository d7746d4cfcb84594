import { describe, expect, it } from '@jest/globals';
import { ANY_DATABASE } from '../../../test/support/stores.js';
import { loadConfig } from './load-config.js';

const PRODUCTION = {
  ...ANY_DATABASE,
  NODE_ENV: 'production',
  JWT_SECRET: 'ax'.repeat(16),
  WRITE_ACCESS: 'open',
};
const SMTP = { SMTP_URL: 'smtp://user:p%40ss@mail.example:587', MAIL_FROM: 'a@example.com' };
const mailOf = (settings: Record<string, string>) => loadConfig({ ...PRODUCTION, ...settings }).mail;

describe('the mail settings', () => {
  it('default to a folder in development, and to no mail in production', () => {
    expect(mailOf({})).toEqual({ kind: 'none' });
    expect(mailOf({ NODE_ENV: 'development', DATA_DIR: '/tmp/x' })).toMatchObject({
      kind: 'folder',
      directory: '/tmp/x/mail',
    });
  });

  it.each([
    ['no-reply@example.com', '', 'no-reply@example.com'],
    ['<no-reply@example.com>', '', 'no-reply@example.com'],
    ['Example <no-reply@example.com>', 'Example', 'no-reply@example.com'],
    ['Ex, "the" ample <no-reply@example.com>', 'Ex, "the" ample', 'no-reply@example.com'],
    [String.raw`"Ex, \"the\" ample" <no-reply@example.com>`, 'Ex, "the" ample', 'no-reply@example.com'],
    ['Пример <no-reply@example.com>', 'Пример', 'no-reply@example.com'],
  ])('accept the sender %s', (text, name, address) => {
    expect(mailOf({ ...SMTP, PUBLIC_URL: 'https://a.example', MAIL_FROM: text })).toEqual({
      kind: 'smtp',
      url: SMTP.SMTP_URL,
      from: { name, address },
    });
  });

  it.each([
    [{ MAIL_FROM: 'nobody' }, 'MAIL_FROM must be an e-mail address'],
    [{ MAIL_FROM: 'A\r\nBcc: x <a@example.com>' }, 'MAIL_FROM must be an e-mail address'],
    [{ MAIL_FROM: 'a@example.com, b@example.com' }, 'MAIL_FROM must be an e-mail address'],
    [{ MAIL_FROM: '' }, 'MAIL_FROM must be set together with SMTP_URL'],
    [{ SMTP_URL: 'http://secret@mail.example' }, 'SMTP_URL must be the address of a mail server'],
    [{ SMTP_URL: 'secret' }, 'SMTP_URL must be the address of a mail server'],
    [{}, 'PUBLIC_URL or ACCOUNT_LINKS_URL must be set for links in mails'],
    [{ ACCOUNT_LINKS_URL: 'https://a.example/#x' }, 'ACCOUNT_LINKS_URL must be an address'],
  ])('name an unusable setting, and never show its value: %j', (settings, message) => {
    const load = () => mailOf({ ...SMTP, ...settings });

    expect(load).toThrow(message);
    expect(load).not.toThrow('secret');
  });
});
