import { Exclude } from 'class-transformer';
import {
  Column,
  type ColumnOptions,
  type ObjectLiteral,
  PrimaryGeneratedColumn,
  type Repository,
} from 'typeorm';

// Column types of entities for both databases, with PostgreSQL's names;
// `sqlite/data-source.ts` maps them to SQLite's types. Migrations use `migrations/column-types.ts`.
// `int8` is another name of `bigint`, whose ids TypeORM would convert to strings.

/** 1, 2, 3 …: 64 bits, never reused. Safe integers in JavaScript. */
export const IdColumn = (): PropertyDecorator => PrimaryGeneratedColumn('increment', { type: 'int8' });

/** A 64-bit integer. */
export const IntegerColumn = (name: string, options: ColumnOptions = {}): PropertyDecorator =>
  Column({
    ...options,
    type: 'int8',
    name,
    transformer: {
      to: (value) => value,
      from: (stored: string | number | null | undefined) => (stored == null ? stored : Number(stored)),
    },
  });

/** Text that sorts by code point on both databases. */
export const TextColumn = (name: string, options: ColumnOptions = {}): PropertyDecorator =>
  Column({ ...options, type: 'text', collation: 'C', name });

/**
 * Text that must not leave the service by accident, such as a hash: it is read only if a statement selects it, and it is
 * never part of the JSON of an entity.
 */
export const HiddenColumn =
  (name: string, options: ColumnOptions = {}): PropertyDecorator =>
  (target, property) => {
    // A primary key identifies the row, so TypeORM always reads it.
    TextColumn(name, { ...options, select: options.primary ?? false })(target, property);
    // For `ClassSerializerInterceptor`, and for JSON without it.
    Exclude()(target, property as string);
    const visible = (target as Jsonable).toJSON ?? ownProperties;
    (target as Jsonable).toJSON = function (this: object) {
      const { [property]: _, ...rest } = visible.call(this) as Record<PropertyKey, unknown>;
      return rest;
    };
  };

interface Jsonable {
  toJSON?: (this: object) => object;
}

function ownProperties(this: object): object {
  return { ...this };
}

/** A time with milliseconds: `timestamptz` on PostgreSQL, RFC 3339 text in UTC on SQLite. */
export const TimestampColumn = (name: string, options: ColumnOptions = {}): PropertyDecorator =>
  Column({
    ...options,
    type: 'timestamptz',
    name,
    transformer: {
      to: (value?: Date | string | null) => (value instanceof Date ? value.toISOString() : value),
      from: (stored: string | Date | null | undefined) => (stored == null ? stored : new Date(stored)),
    },
  });

/** A boolean: `boolean` on PostgreSQL, 1 or 0 on SQLite; `1` and `0` are valid parameters for both. */
export const BooleanColumn = (name: string, options: ColumnOptions = {}): PropertyDecorator =>
  Column({ ...options, type: 'boolean', name });

type Changes<T extends ObjectLiteral> = Parameters<Repository<T>['update']>[1];

/**
 * What an update changes: without absent fields, and without null for a column that is never null. Null clears the other
 * columns.
 */
export function changesOf<T extends ObjectLiteral>(
  { metadata }: Repository<T>,
  input: { readonly [Field in keyof T]?: T[Field] | null | undefined },
): Changes<T> {
  const isChange = ([field, value]: [string, unknown]): boolean =>
    value !== undefined &&
    (value !== null || metadata.findColumnWithPropertyName(field)?.isNullable === true);
  return Object.fromEntries(Object.entries(input).filter(isChange)) as Changes<T>;
}
