import '../require-node.js';
import { parseCommandLine, parseNumber, YES } from './support/command-line.js';

const USAGE = `Usage: npm run account -- <command>
  create [--email E --name N --phone P]             an account; the password is asked for, or read from standard input
  create-superuser [--email E --name N --phone P]   the same for a superuser
  activate <e-mail>            lets an account log in again
  deactivate <e-mail>          ends all access of an account immediately
  staff <e-mail> [--remove]    makes an account staff, or removes that
  show <e-mail>                one account, with its logins and identities
  list [--search text] [--page N] [--limit N]       accounts by e-mail and name, 100 to a page
  reset-password <e-mail>      sets a password and ends all logins; asked for, or read from standard input
  reset-mfa --email E          takes the second factor and passkeys of a person away, after a question
  verify-email <e-mail>        marks the e-mail as verified: you have seen that it is its owner's
  change-email <e-mail> <new>  moves an account to another address, which counts as verified
  delete <e-mail>              deletes an account and all personal data permanently, after a question
  purge                        deletes expired logins, tokens, records and entries of the audit log, as the service does
  --yes                        answers questions with yes
  --help                       this text`;

const text = { type: 'string' } as const;
const { values, positionals } = parseCommandLine(USAGE, {
  options: {
    email: text,
    name: text,
    phone: text,
    search: text,
    page: { ...text, default: '1' },
    limit: { ...text, default: '100' },
    remove: { type: 'boolean' },
    ...YES,
  },
  allowPositionals: true,
});

const flags = {
  ...values,
  page: parseNumber('--page', values.page, 1),
  limit: parseNumber('--limit', values.limit, 1),
};

// Loaded after the flags are parsed, so that `--help` is fast.
const { runAccountCommand } = await import('./support/account-command.js');
await runAccountCommand(positionals, flags, USAGE);
