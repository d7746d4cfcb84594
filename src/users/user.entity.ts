import { Entity, VersionColumn } from 'typeorm';
import { IdColumn, TextColumn, TimestampColumn } from '../platform/database/columns.js';

/** The user of a new database: the author of every post that the API creates. */
export const FIRST_USER_ID = 1;

/** A public profile; people log in with accounts, another table. */
@Entity('users')
export class User {
  @IdColumn()
  id!: number;

  @TextColumn('name')
  name!: string;

  /** A valid address, or empty. Not unique. */
  @TextColumn('email')
  email!: string;

  @TimestampColumn('created_at')
  createdAt!: Date;

  @TimestampColumn('updated_at')
  updatedAt!: Date;

  /** Grows with every write, see `migrations/row-versions.ts`. */
  @VersionColumn({ default: 1 })
  version!: number;
}
