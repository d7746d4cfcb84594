import { createHmac, type KeyObject, randomBytes, timingSafeEqual } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { Clock } from '../../platform/jobs/clock.js';
import { Config } from '../../platform/config/config.js';
import { deriveKeys, type Keys } from '../../platform/config/derive-keys.js';
import { OneTimeSecrets } from '../one-time-secrets.js';

/** How long a challenge is valid, in milliseconds. */
const LIFETIME = 5 * 60_000;

/** In bytes: the end (6), random bytes (16), and an HMAC-SHA256 of both (32). */
const TIME = 6;
const RANDOM = 16;
const LENGTH = TIME + RANDOM + 32;

/**
 * Challenges of WebAuthn (Level 3, section 13.4.3). They are signed, so issuing one stores nothing; a used one is stored
 * until it expires, so each works once.
 */
@Injectable()
export class Challenges {
  private readonly keys: Keys;

  constructor(
    private readonly secrets: OneTimeSecrets,
    private readonly clock: Clock,
    config: Config,
  ) {
    this.keys = deriveKeys(config, 'passkeys');
  }

  /** @param purpose the challenge is valid for nothing else */
  issue(purpose: string): Uint8Array<ArrayBuffer> {
    const time = Buffer.alloc(TIME);
    time.writeUIntBE(this.clock.now().getTime() + LIFETIME, 0, TIME);
    const content = Buffer.concat([time, randomBytes(RANDOM)]);
    return new Uint8Array(Buffer.concat([content, sign(this.keys.current, purpose, content)]));
  }

  /**
   * Uses the challenge that a response names, whether the response is right or wrong.
   *
   * @param clientData `clientDataJSON` of the response, in base64url
   * @returns the challenge in base64url; `undefined` if it was not issued for the purpose, has expired or was used, or if
   * the response comes from a frame of another site
   */
  async use(clientData: string, purpose: string): Promise<string | undefined> {
    const { challenge, crossOrigin = false, topOrigin } = read(clientData);
    if (typeof challenge !== 'string') return undefined;
    const bytes = Buffer.from(challenge, 'base64url');
    if (bytes.length !== LENGTH || bytes.toString('base64url') !== challenge) return undefined;
    const content = bytes.subarray(0, TIME + RANDOM);
    const signature = bytes.subarray(TIME + RANDOM);
    if (!this.keys.accepted.some((key) => timingSafeEqual(signature, sign(key, purpose, content))))
      return undefined;
    const expiresAt = new Date(bytes.readUIntBE(0, TIME));
    if (expiresAt <= this.clock.now()) return undefined;
    const isFirst = await this.secrets.useUnstored('passkey-challenge', challenge, expiresAt);
    const isOwnSite = crossOrigin === false && topOrigin === undefined;
    return isFirst && isOwnSite ? challenge : undefined;
  }
}

const sign = (key: KeyObject, purpose: string, content: Buffer): Buffer =>
  createHmac('sha256', key).update(`${purpose} `).update(content).digest();

/** The members of `clientDataJSON` (WebAuthn Level 3, section 5.8.1); none if it cannot be read. */
function read(clientData: string): Readonly<Record<string, unknown>> {
  try {
    const data: unknown = JSON.parse(Buffer.from(clientData, 'base64url').toString());
    return { ...(data as object | null) };
  } catch {
    return {};
  }
}
