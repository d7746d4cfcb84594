import '../require-node.js';
import { parseCommandLine, parseNumber } from './support/command-line.js';

const USAGE = `Usage: npm run audit [-- --account id] [--subject path] [--before id] [--limit N]

Prints who changed what, the newest first, as one JSON object a line; at most 100 unless --limit is set.
  --account id      only what this account did
  --subject path    only what was done to this resource, such as /auth/me
  --before id       only entries before this one: the id of the last line gives the next page
  --help            this text`;

const text = { type: 'string' } as const;
const { values } = parseCommandLine(USAGE, {
  options: { account: text, subject: text, before: text, limit: text },
});

const number = (flag: keyof typeof values): number | undefined => {
  const value = values[flag];
  return value === undefined ? undefined : parseNumber(`--${flag}`, value, 1);
};
const filter = {
  accountId: number('account'),
  subject: values.subject,
  beforeId: number('before') ?? 0,
  limit: number('limit') ?? 100,
};

// Loaded after the flags are parsed, so that `--help` is fast.
const { toAuditEntryView } = await import('../audit/audit-entry.view.js');
const { AuditLog } = await import('../audit/audit-log.js');
const { runDatabaseCommand } = await import('./support/run-command.js');

await runDatabaseCommand(
  async (context) => {
    const entries = await context.get(AuditLog, { strict: false }).find(filter);
    for (const entry of entries) console.log(JSON.stringify(toAuditEntryView(entry)));
    return 0;
  },
  { access: 'read' },
);
