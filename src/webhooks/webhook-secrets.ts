import { randomBytes } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { AppError } from '../platform/http/errors/errors.js';
import { EncryptedColumns, Encryption } from '../platform/encryption/index.js';
import type { Webhook } from './webhook.entity.js';

/** The prefix of a base64 secret (Standard Webhooks 1.0). */
export const PREFIX = 'whsec_';

/** How long a secret still signs after it was replaced, in milliseconds: 24 hours. */
const ROTATION = 24 * 3600_000;

/** How many replaced secrets may sign at a time, which bounds the header of the signatures. */
const MAX_REPLACED = 10;

export const TOO_MANY_ROTATIONS = `The secret was replaced ${MAX_REPLACED} times within 24 hours, which is the maximum; wait until the oldest one expires`;

interface ReplacedSecret {
  readonly secret: string;
  /** When it stops signing (RFC 3339). */
  readonly until: string;
}

/** The columns of the secrets, which statements must select. */
export const SECRETS = { id: true, secret: true, replacedSecrets: true } as const;

export type Secrets = Required<Pick<Webhook, 'id' | 'secret' | 'replacedSecrets'>>;

/** A new secret, and the columns to store. */
interface NewSecret {
  readonly secret: string;
  readonly columns: Omit<Secrets, 'id'>;
}

const SECRET_COLUMNS = ['secret', 'replaced_secrets'] as const;

type SecretColumn = (typeof SECRET_COLUMNS)[number];

/** The secrets of webhooks, which are stored encrypted. */
@Injectable()
export class WebhookSecrets {
  constructor(
    private readonly encryption: Encryption,
    private readonly columns: EncryptedColumns,
  ) {
    for (const column of SECRET_COLUMNS) columns.register('webhooks', column);
  }

  first(): NewSecret {
    return this.create(null);
  }

  /** The secrets that sign deliveries at `now`, the current one first. */
  async signing(webhook: Secrets, now: Date): Promise<string[]> {
    const replaced = await this.replaced(webhook, now);
    return [await this.current(webhook), ...replaced.map(({ secret }) => secret)];
  }

  /** A new secret; the replaced ones that still sign are kept. @throws AppError `CONFLICT` after too many rotations */
  async rotate(webhook: Secrets, now: Date): Promise<NewSecret> {
    const replaced = await this.replaced(webhook, now);
    if (replaced.length >= MAX_REPLACED) throw new AppError('CONFLICT', TOO_MANY_ROTATIONS);
    const until = new Date(now.getTime() + ROTATION).toISOString();
    const all = [{ secret: await this.current(webhook), until }, ...replaced];
    return this.create(this.encrypt('replaced_secrets', JSON.stringify(all)));
  }

  private create(replacedSecrets: string | null): NewSecret {
    const secret = PREFIX + randomBytes(32).toString('base64');
    return { secret, columns: { secret: this.encrypt('secret', secret), replacedSecrets } };
  }

  private current(webhook: Secrets): Promise<string> {
    return this.decrypt(webhook, 'secret', webhook.secret);
  }

  /** The replaced secrets that still sign at `now`, the most recently replaced first. */
  private async replaced(webhook: Secrets, now: Date): Promise<ReplacedSecret[]> {
    if (webhook.replacedSecrets === null) return [];
    const text = await this.decrypt(webhook, 'replaced_secrets', webhook.replacedSecrets);
    const all = JSON.parse(text) as ReplacedSecret[];
    return all.filter(({ until }) => Date.parse(until) > now.getTime());
  }

  private encrypt(column: SecretColumn, text: string): string {
    return this.encryption.encrypt(text, `webhooks.${column}`);
  }

  private decrypt({ id }: Secrets, column: SecretColumn, stored: string): Promise<string> {
    return this.columns.decrypt('webhooks', column, id, stored);
  }
}
