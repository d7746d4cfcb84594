import { randomBytes } from 'node:crypto';
import { AppError } from '../common/errors/errors.js';
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

type Secrets = Pick<Webhook, 'secret' | 'previousSecret' | 'previousSecretUntil' | 'olderSecrets'>;

const newSecret = (): string => PREFIX + randomBytes(32).toString('base64');

export const firstSecret = (): Secrets => ({
  secret: newSecret(),
  previousSecret: null,
  previousSecretUntil: null,
  olderSecrets: null,
});

/** The secrets that sign deliveries at `now`, the current one first. */
export const signingSecrets = (webhook: Secrets, now: Date): string[] => [
  webhook.secret,
  ...replacedSecrets(webhook, now).map(({ secret }) => secret),
];

/**
 * Returns the columns to store after a rotation: a new secret, and the replaced secrets that still sign.
 *
 * @throws AppError `CONFLICT` if too many still sign
 */
export function rotate(webhook: Secrets, now: Date): Secrets {
  const older = replacedSecrets(webhook, now);
  if (older.length >= MAX_REPLACED) {
    throw new AppError('CONFLICT', TOO_MANY_ROTATIONS);
  }
  return {
    secret: newSecret(),
    previousSecret: webhook.secret,
    previousSecretUntil: new Date(now.getTime() + ROTATION),
    olderSecrets: older.length === 0 ? null : JSON.stringify(older),
  };
}

/** The replaced secrets that still sign at `now`, the most recently replaced first. */
function replacedSecrets(
  { previousSecret, previousSecretUntil, olderSecrets }: Secrets,
  now: Date,
): ReplacedSecret[] {
  const older = JSON.parse(olderSecrets ?? '[]') as ReplacedSecret[];
  const all =
    previousSecret === null || previousSecretUntil === null
      ? older
      : [{ secret: previousSecret, until: previousSecretUntil.toISOString() }, ...older];
  return all.filter(({ until }) => Date.parse(until) > now.getTime());
}
