import { Entity } from 'typeorm';
import {
  BooleanColumn,
  IdColumn,
  IntegerColumn,
  TextColumn,
  TimestampColumn,
} from '../platform/database/columns.js';

/** A receiver of events. */
@Entity('webhooks')
export class Webhook {
  @IdColumn()
  id!: number;

  @TextColumn('url')
  url!: string;

  /** A JSON array. */
  @TextColumn('types')
  types!: string;

  @TextColumn('description')
  description!: string;

  @BooleanColumn('active')
  active!: boolean;

  /** It signs deliveries, so it cannot be stored as a hash: it is encrypted, like those below. */
  @TextColumn('secret')
  secret!: string;

  @TextColumn('previous_secret', { nullable: true })
  previousSecret!: string | null;

  @TimestampColumn('previous_secret_until', { nullable: true })
  previousSecretUntil!: Date | null;

  /** A JSON array of `{secret, until}`, encrypted: secrets that were replaced before `previousSecret` and still sign. */
  @TextColumn('older_secrets', { nullable: true })
  olderSecrets!: string | null;

  /** The last position before the webhook became active. */
  @IntegerColumn('after_position')
  afterPosition!: number;

  /** The time of the first failure since the last success. */
  @TimestampColumn('failing_since', { nullable: true })
  failingSince!: Date | null;

  @TimestampColumn('created_at')
  createdAt!: Date;

  @TimestampColumn('updated_at')
  updatedAt!: Date;
}
