import '../require-node.js';
import { parseCommandLine } from './support/command-line.js';

const USAGE = `Usage: npm run audit [-- --account id] [--subject path] [--before id] [--limit N]

Prints who changed what, the newest first, as one JSON object a line; at most 100 unless --limit is set.
  --account id      only what this account did
  --subject path    only what was done to this resource, such as /v1/posts/7
  --before id       only entries before this one: the id of the last line gives the next page
  --help            this text`;

const text = { type: 'string' } as const;
const { values } = parseCommandLine(USAGE, {
  options: { account: text, subject: text, before: text, limit: text },
});

// Loaded after the flags are parsed, so that `--help` is fast.
const { AuditEntry } = await import('../audit/audit-entry.entity.js');
const { toAuditEntryView } = await import('../audit/audit-entry.view.js');
const { auditLog } = await import('./support/audit-command.js');
const { runDatabaseCommand, UsageError } = await import('./support/run-command.js');

function number(flag: keyof typeof values): number | undefined {
  const value = values[flag];
  if (value === undefined) return undefined;
  if (!/^[1-9]\d{0,14}$/.test(value)) throw new UsageError(`--${flag} must be a whole number from 1`);
  return Number(value);
}

await runDatabaseCommand(
  async (database) => {
    const entries = await auditLog(database).find({
      accountId: number('account'),
      subject: values.subject,
      beforeId: number('before') ?? 0,
      limit: number('limit') ?? 100,
    });
    for (const entry of entries) console.log(JSON.stringify(toAuditEntryView(entry)));
    return 0;
  },
  [AuditEntry],
);
