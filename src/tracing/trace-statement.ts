import { SpanKind } from '@opentelemetry/api';
import { inSpan } from '../common/ports/spans.js';

/** The maximum length of a statement in a span, in characters. */
const MAX_TEXT = 2000;

/** A cache of statements with the name and text of their spans. TypeORM writes limits into their text. */
const MAX_KNOWN = 1000;

interface Description {
  readonly name: string;
  readonly text: string;
}

const known = new Map<string, Description>();

/** A client span of OpenTelemetry's database conventions: `INSERT posts`, with the text and no values. */
export function statementSpan<T>(system: string, sql: string, run: () => T): T {
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

/** The operation, and its table if that can be recognized. */
export function summaryOf(sql: string): string {
  const [, operation = 'SQL'] = /^\s*(?:WITH\s+\w+\s+AS\s*\(\s*)?(\w+)/i.exec(sql) ?? [];
  // A function after FROM is no table.
  const [, table] = /\b(?:INTO|UPDATE|TABLE|FROM(?!\s+\w+\s*\())\s+"?(\w+)/i.exec(sql) ?? [];
  return table === undefined ? operation.toUpperCase() : `${operation.toUpperCase()} ${table}`;
}

/** Removes literals and repeated whitespace. Parameters are sent separately, so they are not in the text. */
export const withoutValues = (sql: string): string =>
  sql
    .replaceAll(/'(?:[^']|'')*'/g, '?')
    .replaceAll(/(?<![\w$:"?])\d+(?:\.\d+)?\b/g, '?')
    .replaceAll(/\s+/g, ' ')
    .trim();
