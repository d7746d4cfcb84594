import { SpanKind } from '@opentelemetry/api';
import { inSpan } from '../common/tracing/spans.js';

/** As much of a statement as a span gets, in characters. */
const MAX_TEXT = 2000;

/** Statements that were seen, with the name and the text of their spans. TypeORM writes limits into their text. */
const MAX_KNOWN = 1000;

interface Description {
  readonly name: string;
  readonly text: string;
}

const known = new Map<string, Description>();

/** A client span by OpenTelemetry's database conventions: `INSERT posts`, with the text and no values. */
export function statementSpan<T>(system: 'sqlite' | 'postgresql', sql: string, run: () => T): T {
  const { name, text } = describe(sql);
  return inSpan(name, run, {
    kind: SpanKind.CLIENT,
    attributes: { 'db.system.name': system, 'db.query.text': text, 'db.query.summary': name },
  });
}

function describe(sql: string): Description {
  let description = known.get(sql);
  if (!description) {
    if (known.size >= MAX_KNOWN) known.clear();
    known.set(sql, (description = { name: summaryOf(sql), text: withoutValues(sql).slice(0, MAX_TEXT) }));
  }
  return description;
}

/** The operation, and the table that it is about, if that is plain to see. */
export function summaryOf(sql: string): string {
  const [, operation = 'SQL'] = /^\s*(?:WITH\s+\w+\s+AS\s*\(\s*)?(\w+)/i.exec(sql) ?? [];
  // After FROM, a function is no table.
  const [, table] = /\b(?:INTO|UPDATE|TABLE|FROM(?!\s+\w+\s*\())\s+"?(\w+)/i.exec(sql) ?? [];
  return table === undefined ? operation.toUpperCase() : `${operation.toUpperCase()} ${table}`;
}

/** Without literals, and with blanks made one. Parameters are none: they are sent apart from the text. */
export const withoutValues = (sql: string): string =>
  sql
    .replaceAll(/'(?:[^']|'')*'/g, '?')
    .replaceAll(/(?<![\w$:"?])\d+(?:\.\d+)?\b/g, '?')
    .replaceAll(/\s+/g, ' ')
    .trim();
