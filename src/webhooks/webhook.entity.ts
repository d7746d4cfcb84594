import { Entity } from 'typeorm';
import {
  BooleanColumn,
  HiddenColumn,
  IdColumn,
  IntegerColumn,
  TextColumn,
  TimestampColumn,
} from '../platform/database/columns.js';

@Entity('webhooks')
export class Webhook {
  @IdColumn()
  id!: number;

  @TextColumn('url')
  url!: string;

  @TextColumn('types', {
    transformer: {
      to: (types?: readonly string[]) => types && JSON.stringify(types),
      from: (stored?: string) => stored && JSON.parse(stored),
    },
  })
  types!: readonly string[];

  @TextColumn('description')
  description!: string;

  @BooleanColumn('active')
  active!: boolean;

  /** It signs deliveries, so it cannot be stored as a hash: it is encrypted, like the next column. */
  @HiddenColumn('secret')
  secret?: string;

  /** A JSON array of `{secret, until}`, encrypted: the replaced secrets that still sign. */
  @HiddenColumn('replaced_secrets', { nullable: true })
  replacedSecrets?: string | null;

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
