/** The state of the schema when a statement of a migration runs. */
interface SchemaState {
  /** Tables that existed before the migration: they may be large and in use. */
  readonly existing: ReadonlySet<string>;
  readonly isInTransaction: boolean;
  /** What the previous release does not use, such as `posts` and `posts.source`, as the migration says. */
  readonly unused: ReadonlySet<string>;
  /** Whether a validated constraint has checked that a column is not null. */
  readonly isCheckedNotNull: (table: string, column: string) => Promise<boolean>;
}

const TABLE = String.raw`(?:ONLY )?(?:"?\w+"?\.)?"?(?<table>\w+)"?`;
const INDEX = new RegExp(
  String.raw`^CREATE (?:UNIQUE )?INDEX (?!CONCURRENTLY)(?:.* )?ON ${TABLE}(?: USING \w+)? ?\(`,
  'i',
);
const ALTER = new RegExp(String.raw`^ALTER TABLE (?:IF EXISTS )?${TABLE} (?<actions>.*)$`, 'i');
const REWRITE = /^(?:REINDEX (?!.*CONCURRENTLY)|CLUSTER\b|VACUUM (?:\(.*)?FULL\b)/i;

/** What takes a column or table away from the previous release, which still runs during a rollout. */
const COLUMN_GONE =
  /^(?:DROP (?:COLUMN )?(?:IF EXISTS )?|RENAME (?:COLUMN )?)(?!TO\b|CONSTRAINT\b)"?(?<column>\w+)"?/i;
const TABLES_GONE = /^DROP TABLE (?:IF EXISTS )?(?<tables>.*?)(?: CASCADE| RESTRICT)?$/i;
const TABLE_MOVED = new RegExp(
  String.raw`^ALTER TABLE (?:IF EXISTS )?${TABLE} (?:RENAME TO|SET SCHEMA)\b`,
  'i',
);

const FUNCTION_CALL = /\b(?!now\b)\w+ ?\(/i;

const BY_ACTION: readonly (readonly [RegExp, string])[] = [
  [
    /^ALTER (?:COLUMN )?\S+ (?:SET DATA )?TYPE\b/i,
    'a type change rewrites the table: add another column and fill it',
  ],
  [/^SET (?:LOGGED|UNLOGGED|TABLESPACE|ACCESS METHOD)\b/i, 'this rewrites the table'],
  [
    /^ADD (?:CONSTRAINT \S+ )?(?:FOREIGN KEY|CHECK|NOT NULL)\b(?!.*\bNOT VALID$)/i,
    'adding a constraint reads the table: add it with NOT VALID, and validate it in another migration',
  ],
  [
    /^ADD (?:CONSTRAINT \S+ )?(?:UNIQUE|PRIMARY KEY|EXCLUDE)\b(?!.*\bUSING INDEX\b)/i,
    'this builds an index: create it with createIndexConcurrently, then add the constraint with USING INDEX',
  ],
  [
    /^ADD (?!CONSTRAINT\b|FOREIGN KEY\b|CHECK\b|NOT NULL\b|UNIQUE\b|PRIMARY KEY\b|EXCLUDE\b).*\b(?:REFERENCES|CHECK|UNIQUE|PRIMARY KEY)\b/i,
    'a constraint of a new column reads the table or builds an index: add the column, then the constraint with NOT VALID or USING INDEX',
  ],
  [
    /^ADD (?!CONSTRAINT\b).*(?:\b(?:small|big)?serial\b|\bGENERATED\b)/i,
    'a column that the database computes rewrites the table: add it without, and fill it',
  ],
];

const NOT_NULL = /^ALTER (?:COLUMN )?"?(?<column>\w+)"? SET NOT NULL$/i;
const DEFAULT = /^ADD (?!CONSTRAINT\b).*?\bDEFAULT (?<value>.*)$/i;

/**
 * Returns why a statement would block requests on a large table of PostgreSQL and what to do instead, or `undefined` if
 * its text shows no reason.
 */
export async function whyBlocking(sql: string, state: SchemaState): Promise<string | undefined> {
  const text = sql
    .replaceAll(/--.*$/gm, '')
    .replaceAll(/\/\*.*?\*\//gs, '')
    .replaceAll(/\s+/g, ' ')
    .trim();
  // A function body contains semicolons, so it is checked as one statement.
  const statements = text.includes('$$') ? [text] : text.split(';').map((each) => each.trim());
  for (const statement of statements) {
    const reason = await whyOne(statement, state);
    if (reason !== undefined) return `${reason} (${statement})`;
  }
  return undefined;
}

async function whyOne(statement: string, state: SchemaState): Promise<string | undefined> {
  if (REWRITE.test(statement)) return 'this rewrites and locks what is in use';
  const index = INDEX.exec(statement)?.groups;
  if (index && state.existing.has(index['table']!)) {
    return `an index on ${index['table']} stops all writes to it: use createIndexConcurrently, with transaction = false`;
  }
  for (const gone of tablesGone(statement)) {
    const reason = state.existing.has(gone) ? whyInUse(gone, state) : undefined;
    if (reason !== undefined) return reason;
  }
  const { table = '', actions = '' } = ALTER.exec(statement)?.groups ?? {};
  if (!state.existing.has(table)) return undefined;
  for (const action of actionsOf(actions)) {
    const reason = await whyAction(table, action, state);
    if (reason !== undefined) return `${table}: ${reason}`;
  }
  return undefined;
}

/** The tables that a statement drops, renames or moves. */
function tablesGone(statement: string): string[] {
  const { table } = TABLE_MOVED.exec(statement)?.groups ?? {};
  if (table !== undefined) return [table];
  const names = TABLES_GONE.exec(statement)?.groups?.['tables']?.split(',') ?? [];
  return names.map((name) => /(\w+)"?$/.exec(name.trim())?.[1] ?? name);
}

function whyInUse(name: string, { unused }: SchemaState): string | undefined {
  if (unused.has(name)) return undefined;
  return `replicas of the previous release use ${name} during a rollout: wait for a release that does not, then add the field unused = ['${name}'] to the migration`;
}

async function whyAction(table: string, action: string, state: SchemaState): Promise<string | undefined> {
  const { column: gone } = COLUMN_GONE.exec(action)?.groups ?? {};
  if (gone !== undefined) return whyInUse(`${table}.${gone}`, state);
  const [, reason] = BY_ACTION.find(([known]) => known.test(action)) ?? [];
  if (reason !== undefined) return reason;
  if (/^VALIDATE CONSTRAINT\b/i.test(action) && state.isInTransaction)
    return 'a constraint is validated with transaction = false, or the locks of the whole run are held meanwhile';
  const { value = '' } = DEFAULT.exec(action)?.groups ?? {};
  if (FUNCTION_CALL.test(value))
    return 'a default that differs between rows rewrites the table: add the column without it, and fill it';
  const { column } = NOT_NULL.exec(action)?.groups ?? {};
  if (column !== undefined && !(await state.isCheckedNotNull(table, column)))
    return `SET NOT NULL reads the table: add CHECK (${column} IS NOT NULL) NOT VALID and validate it in earlier migrations`;
  return undefined;
}

/** Splits at commas outside of parentheses. */
function actionsOf(text: string): string[] {
  const actions: string[] = [''];
  let depth = 0;
  for (const character of text) {
    if (character === '(') depth++;
    if (character === ')') depth--;
    if (character === ',' && depth === 0) actions.push('');
    else actions[actions.length - 1] += character;
  }
  return actions.map((action) => action.trim());
}

/**
 * Returns what is wrong with a `CREATE TABLE` of SQLite, from whose text TypeORM reads the id and the foreign keys: it
 * would take a table with other names for a changed one, and `migration:generate` would copy it.
 */
export function unquotedNames(sql: string): string | undefined {
  const [table = ''] = /^CREATE TABLE "?\w+"?/i.exec(sql) ?? [];
  const id = /(\w+)\s+integer[^,]*\bAUTOINCREMENT\b/i.exec(sql)?.[1];
  if (id !== undefined) return `${table}: write "${id}" in quotes, so that TypeORM finds it`;
  const keys = sql.match(/[^,(]*\bREFERENCES\b/gi) ?? [];
  const isFound = /CONSTRAINT "[^"]+" FOREIGN KEY ?\("[^)]*\) REFERENCES "[^"]+"/g;
  if (keys.length === (sql.match(isFound) ?? []).length) return undefined;
  return `${table}: write foreign keys as CONSTRAINT "x_y_fkey" FOREIGN KEY ("y") REFERENCES "z" ("id"), with the names in quotes, so that TypeORM finds them`;
}
