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

export type Secrets = Required<Pick<Webhook, 'secret' | 'replacedSecrets'>>;

const SECRET_COLUMNS = ['secret', 'replaced_secrets'] as const;

type SecretColumn = (typeof SECRET_COLUMNS)[number];

/** The secrets of webhooks, which are stored encrypted. */
@Injectable()
export class WebhookSecrets {
  constructor(
    private readonly encryption: Encryption,
    columns: EncryptedColumns,
  ) {
    columns.register('webhooks', SECRET_COLUMNS);
  }

  first(): Secrets {
    return { secret: this.encrypt('secret', newSecret()), replacedSecrets: null };
  }

  current({ secret }: Secrets): string {
    return this.decrypt('secret', secret);
  }

  /** The secrets that sign deliveries at `now`, the current one first. */
  signing(webhook: Secrets, now: Date): string[] {
    return [this.current(webhook), ...this.replaced(webhook, now).map(({ secret }) => secret)];
  }

  /**
   * Returns the columns to store after a rotation: a new secret, and the replaced secrets that still sign.
   */
  rotate(webhook: Secrets, now: Date): Secrets {
    const replaced = this.replaced(webhook, now);
    if (replaced.length >= MAX_REPLACED) throw new AppError('CONFLICT', TOO_MANY_ROTATIONS);
    const until = new Date(now.getTime() + ROTATION).toISOString();
    const all = [{ secret: this.current(webhook), until }, ...replaced];
    return {
      secret: this.encrypt('secret', newSecret()),
      replacedSecrets: this.encrypt('replaced_secrets', JSON.stringify(all)),
    };
  }

  /** The replaced secrets that still sign at `now`, the most recently replaced first. */
  private replaced({ replacedSecrets }: Secrets, now: Date): ReplacedSecret[] {
    if (replacedSecrets === null) return [];
    const all = JSON.parse(this.decrypt('replaced_secrets', replacedSecrets)) as ReplacedSecret[];
    return all.filter(({ until }) => Date.parse(until) > now.getTime());
  }

  private encrypt(column: SecretColumn, text: string): string {
    return this.encryption.encrypt(text, `webhooks.${column}`);
  }

  private decrypt(column: SecretColumn, stored: string): string {
    return this.encryption.decrypt(stored, `webhooks.${column}`);
  }
}

const newSecret = (): string => PREFIX + randomBytes(32).toString('base64');
