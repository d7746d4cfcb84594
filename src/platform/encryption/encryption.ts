import { createCipheriv, createDecipheriv, createHash, hkdfSync, randomBytes } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { Config } from '../config/config.js';
import { ConfigError } from '../config/config-error.js';

/** `v1`, the name of the key, and initialization vector, tag and text in base64url. */
const STORED = /^\$aes-256-gcm\$v1\$(?<key>[\da-f]{16})\$(?<data>[\w-]+)$/;

const PREFIX = /^\$aes-256-gcm\$v1\$([\da-f]{16})/;

/** Of AES-GCM (NIST SP 800-38D), in bytes. */
const IV_BYTES = 12;
const TAG_BYTES = 16;

/** The length of the part of a stored value that names its format and key. */
export const ENCRYPTED_PREFIX_LENGTH = '$aes-256-gcm$v1$'.length + 16;

/**
 * Encrypts secrets that are stored and must be read back (AES-256-GCM). A stored value names its key, so that keys can
 * be replaced: `EncryptedColumns` stores a value again under the current one when it is used.
 */
@Injectable()
export class Encryption {
  private byName: ReadonlyMap<string, Buffer> | undefined;

  constructor(private readonly config: Config) {}

  /** @param purpose such as the name of the column: a value cannot be moved to another purpose */
  encrypt(text: string, purpose: string): string {
    const [[name, key]] = [...this.keys] as [[string, Buffer]];
    const iv = randomBytes(IV_BYTES);
    const cipher = createCipheriv('aes-256-gcm', key, iv).setAAD(Buffer.from(purpose));
    const data = Buffer.concat([iv, cipher.update(text, 'utf8'), cipher.final(), cipher.getAuthTag()]);
    return `$aes-256-gcm$v1$${name}$${data.toString('base64url')}`;
  }

  /**
   * The text of a stored value.
   *
   * @throws Error when no key decrypts it, or it is not encrypted
   */
  decrypt(stored: string, purpose: string): string {
    const { key: name, data: encoded } = STORED.exec(stored)?.groups ?? {};
    if (name === undefined || encoded === undefined)
      throw new Error(
        `A value of ${purpose} is not encrypted, so it is not used: the service has not stored it`,
      );
    const key = this.keys.get(name);
    if (!key)
      throw new ConfigError(
        `A value of ${purpose} is encrypted with a key that is not configured: set ENCRYPTION_KEY_PREVIOUS or JWT_SECRET_PREVIOUS to it`,
      );
    const data = Buffer.from(encoded, 'base64url');
    const decipher = createDecipheriv('aes-256-gcm', key, data.subarray(0, IV_BYTES))
      .setAAD(Buffer.from(purpose))
      .setAuthTag(data.subarray(-TAG_BYTES));
    return decipher.update(data.subarray(IV_BYTES, -TAG_BYTES), undefined, 'utf8') + decipher.final('utf8');
  }

  /** Whether a value is encrypted with the current key. */
  isCurrent(stored: string): boolean {
    const key = this.keyOf(stored);
    return key !== undefined && this.stateOf(key) === 'current';
  }

  /** The name of the key that has encrypted a value; `undefined` if none has. */
  keyOf(prefix: string): string | undefined {
    return PREFIX.exec(prefix)?.[1];
  }

  stateOf(key: string): 'current' | 'former' | 'unknown' {
    const [current] = this.keys.keys();
    if (key === current) return 'current';
    return this.keys.has(key) ? 'former' : 'unknown';
  }

  /** By name, the current key first. Most commands need none, and run without the settings. */
  private get keys(): ReadonlyMap<string, Buffer> {
    const { encryptionKey, encryptionKeyPrevious, jwtSecret, jwtSecretPrevious } = this.config;
    return (this.byName ??= new Map(
      [encryptionKey, derive(jwtSecret), encryptionKeyPrevious, derive(jwtSecretPrevious)]
        .filter((key) => key !== undefined)
        .map((key) => [nameOf(key), key]),
    ));
  }
}

const derive = (secret: string | undefined): Buffer | undefined =>
  secret === undefined ? undefined : Buffer.from(hkdfSync('sha256', secret, '', 'encryption', 32));

/** It reveals nothing of a random key. */
const nameOf = (key: Buffer): string => createHash('sha256').update(key).digest('hex').slice(0, 16);
