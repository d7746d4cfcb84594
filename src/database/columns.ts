import { Column, type ColumnOptions, PrimaryGeneratedColumn } from 'typeorm';

// Column types of entities, written once for both databases. They are declared as PostgreSQL calls them;
// `sqlite/data-source.ts` knows what each is called there. Migrations use `migrations/column-types.ts`.
// `int8` is `bigint` by its other name: TypeORM would turn the ids of a `bigint` into strings.

/** 1, 2, 3 …: 64 bits wide, never used again. Safe integers in JavaScript. */
export const IdColumn = (): PropertyDecorator => PrimaryGeneratedColumn('increment', { type: 'int8' });

/** A whole number, 64 bits wide. */
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

/** A moment with milliseconds: `timestamptz` on PostgreSQL, RFC 3339 text in UTC on SQLite. */
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

/** True or false: `boolean` on PostgreSQL, 1 or 0 on SQLite; `1` and `0` as parameters do for both. */
export const BooleanColumn = (name: string, options: ColumnOptions = {}): PropertyDecorator =>
  Column({ ...options, type: 'boolean', name });
