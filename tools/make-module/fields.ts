import { readFileSync } from 'node:fs';
import type { Lists, Words } from './fill.ts';
import { InputError } from './input-error.ts';
import { pascal } from './names.ts';

/** What a type of a field is in each file of a module, and values for its test, as TypeScript. */
interface Kind {
  readonly type: string;
  /** In views; absent if it is the same. */
  readonly json?: string;
  readonly graphql: string;
  readonly description: string;
  /** The decorator of the entity. */
  readonly column: string;
  /** In the migration. */
  readonly sql: string;
  /** The decorators of the input. */
  readonly rules: string;
  /** Options of `@ApiProperty` in the view. */
  readonly property: string;
  readonly valid: string;
  readonly other: string;
  readonly invalid: readonly string[];
  /** The words of an enum. */
  readonly members?: readonly string[];
}

const KINDS: Readonly<Record<string, Kind>> = {
  int: {
    type: 'number',
    graphql: 'Int',
    description: 'A whole number of 32 bits.',
    column: 'IntegerColumn',
    sql: '${types.integer}',
    rules: `@ApiProperty({ type: 'integer', format: 'int32' }) @IsInt() @Min(-(2 ** 31)) @Max(2 ** 31 - 1)`,
    property: `type: 'integer', format: 'int32', example: 1`,
    valid: '1',
    other: '-2',
    invalid: [`'1'`, '1.5', '2 ** 31'],
  },
  number: {
    type: 'number',
    graphql: 'Float',
    description: 'A number.',
    column: 'Column',
    sql: 'double precision',
    rules: `@ApiProperty({ type: 'number' }) @IsNumber()`,
    property: `type: 'number', example: 1.5`,
    valid: '1.5',
    other: '-0.1',
    invalid: [`'1'`, 'true'],
  },
  boolean: {
    type: 'boolean',
    graphql: 'Boolean',
    description: 'True or false.',
    column: 'BooleanColumn',
    sql: '${types.boolean}',
    rules: '@TrueOrFalse()',
    property: `type: 'boolean', example: true`,
    valid: 'true',
    other: 'false',
    invalid: [`'true'`, '1'],
  },
  date: {
    type: 'Date',
    json: 'string',
    graphql: 'Date',
    description: 'A time.',
    column: 'TimestampColumn',
    sql: '${types.timestamp}',
    rules: '@Time()',
    property: `type: 'string', format: 'date-time', example: '2026-11-21T08:00:00.000Z'`,
    valid: `'2026-11-21T08:00:00.000Z'`,
    other: `'2027-01-02T03:04:05.678Z'`,
    invalid: [`'tomorrow'`, `'2026-02-30T08:00:00Z'`, '5'],
  },
};

const TYPES = 'text, text(200), int, number, boolean, date or enum(open,done)';
const MAX_FIELDS = 20;
const MAX_LENGTH = 10_000;

/** Columns of every module, and names that PostgreSQL, SQLite or JavaScript keeps for itself. */
const TAKEN = /^(id|version|account|constructor|ctid|oid|rowid|tableoid|[cx]m(in|ax))$/;

/** Ends of the names of types that a module has anyway, such as `TaskView`. */
const ENDS_OF_TYPES = /^(connection|edge|view)$/;

type FieldWords = Words & { readonly name: string };

/**
 * The template variables of the fields of a module; without fields, it has a text.
 *
 * @param texts such as `rating:int?`
 * @param Name of the class of the module
 * @param parent the property for the parent
 * @throws InputError for a field that cannot be created
 */
export function wordsOfFields(
  texts: readonly string[],
  Name: string,
  parent = '',
): { words: Words; lists: Lists } {
  const fields = (texts.length > 0 ? texts : ['text:text']).map((text) => parse(text, Name));
  if (fields.length > MAX_FIELDS)
    throw new InputError(`${fields.length} fields are too many: ${MAX_FIELDS} at most`);
  for (const [n, { name }] of fields.entries()) {
    if (TAKEN.test(name) || name === parent) throw new InputError(`"${name}" cannot be a field: it is taken`);
    if (fields.findIndex((each) => each.name === name) < n)
      throw new InputError(`"${name}" cannot be two fields`);
  }
  const required = fields.filter(({ optional }) => !optional);
  const enums = fields.filter(({ members }) => members);
  const object = (some: readonly FieldWords[], value: (field: FieldWords) => string): string =>
    `{ ${some.map((field) => `${field.name}: ${value(field)}`).join(', ')} }`;
  const words = {
    enumNames: enums.map(({ type }) => type).join(', '),
    fieldNames: fields.map(({ name }) => name).join(' '),
    valid: object(required, ({ valid }) => valid!),
    other: object(fields, ({ other }) => other!),
    cleared: object(fields, ({ other, optional }) => (optional ? 'null' : other!)),
    required: required.map(({ name }) => name).join(' '),
  };
  return { words, lists: { fields, enums } };
}

function parse(text: string, Name: string): FieldWords {
  const [, name = '', type = '', list, optional = ''] =
    /^([^:]*):([^:(?]*)(?:\(([^()]*)\))?(\??)$/.exec(text) ?? [];
  if (!/^[a-z]{1,40}$/.test(name))
    throw new InputError(
      `"${text}" cannot be a field: write <name>:<type>, with a name of small letters only`,
    );
  const kind = kindOf(name, type, list, Name);
  if (!kind) throw new InputError(`"${text}" cannot be a field: its type must be ${TYPES}`);
  const { members, invalid, json = kind.type, ...rest } = kind;
  const show = type === 'date' ? `${name}${optional}.toISOString()` : name;
  return {
    ...rest,
    name,
    optional,
    json,
    argument: kind.column === 'Column' ? kind.sql : name,
    shown: optional ? `row.${show} ?? null` : `row.${show}`,
    members: members?.map((word) => `${word} = '${word}'`).join(', ') ?? '',
    valuesMap: members?.map((word) => `${word}: { description: 'The ${name} is ${word}.' }`).join(', ') ?? '',
    invalid: invalid.map((value) => `['${name}', ${value}]`).join(', '),
  };
}

function kindOf(name: string, type: string, list: string | undefined, Name: string): Kind | undefined {
  if (type === 'text') return textOf(list);
  if (type === 'enum' && list !== undefined) return enumOf(`${Name}${pascal(name)}`, list.split(','), name);
  return list === undefined && Object.hasOwn(KINDS, type) ? KINDS[type] : undefined;
}

function textOf(maximum = '1000'): Kind {
  const max = /^\d{1,5}$/.test(maximum) ? Number(maximum) : 0;
  if (max < 10 || max > MAX_LENGTH)
    throw new InputError(`The maximum of a text must be 10 to ${MAX_LENGTH} characters`);
  return {
    type: 'string',
    graphql: 'String',
    description: `1 to ${max} characters.`,
    column: 'TextColumn',
    sql: '${types.text}',
    rules: `@ApiProperty({ example: 'Some text' }) @Text({ min: 1, max: ${max} })`,
    property: `type: 'string', example: 'Some text'`,
    valid: `'Some text'`,
    other: `'Other text'`,
    invalid: [`''`, '5', `'a'.repeat(${max + 1})`, String.raw`'\0'`],
  };
}

/** Its column is text without a `CHECK`, so that a further word needs no migration. */
function enumOf(type: string, words: readonly string[], name: string): Kind {
  if (words.length < 2 || new Set(words).size < words.length || !words.every(isWord))
    throw new InputError(
      `An enum has at least two words of small letters, digits and "_", such as enum(open,done)`,
    );
  if (
    ENDS_OF_TYPES.test(name) ||
    new RegExp(`^\\w+ ${type}\\b`, 'm').test(readFileSync('schema.gql', 'utf8'))
  )
    throw new InputError(`"${name}" cannot be an enum: its type would be ${type}, which is taken`);
  return {
    type,
    graphql: type,
    description: `${words.map((word) => `\`${word}\``).join(', ')}.`,
    column: 'TextColumn',
    sql: '${types.text}',
    rules: `@OneOf(Object.values(${type}))`,
    property: `enum: ${type}, example: '${words[0]}'`,
    valid: `'${words[0]}'`,
    other: `'${words[1]}'`,
    invalid: [`''`, `'${words[0]}!'`, '5'],
    members: words,
  };
}

/** Not what GraphQL forbids as a value. */
const isWord = (word: string): boolean => /^(?!(true|false|null)$)[a-z][a-z0-9_]*$/.test(word);
