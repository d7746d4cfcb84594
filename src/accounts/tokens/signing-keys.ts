import { createHash, createPrivateKey, createPublicKey, type JsonWebKey, type KeyObject } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { JwtService, type JwtSignOptions } from '@nestjs/jwt';
import { Config } from '../../platform/config/config.js';

export type TokenType = 'access' | 'refresh';

/** A public key of the service, as other services get it (RFC 7517). */
export interface PublicJwk extends JsonWebKey {
  readonly kid: string;
  readonly alg: 'ES256';
  readonly use: 'sig';
}

/** A secret, or a public key in PEM, and the algorithm that it is for. */
export interface VerificationKey {
  readonly key: string;
  readonly algorithm: 'HS256' | 'ES256';
}

type Members = Readonly<Record<string, unknown>>;

/** The header `typ` of ES256 tokens (RFC 9068, section 2.1): a verifier of access tokens rejects the others. */
const MEDIA_TYPES: Readonly<Record<TokenType, string>> = { access: 'at+jwt', refresh: 'rt+jwt' };

interface SigningKey {
  readonly privateKey: KeyObject;
  readonly publicKey: string;
  readonly jwk: PublicJwk;
}

/**
 * The keys of tokens: `JWT_SECRET` (HS256), or `JWT_PRIVATE_KEY` (ES256, RFC 7518, section 3.4). The header of a token
 * only selects among the keys; the key decides the algorithm.
 */
@Injectable()
export class SigningKeys {
  private readonly current: SigningKey | undefined;
  private readonly keys: readonly SigningKey[];
  private readonly issuer: string;
  private readonly audience: string;

  constructor(
    private readonly config: Config,
    private readonly jwt: JwtService,
  ) {
    const { jwtPrivateKey, jwtPrivateKeyPrevious, jwtAudience, publicUrl } = config;
    this.issuer = publicUrl;
    this.audience = jwtAudience ?? publicUrl;
    this.current = jwtPrivateKey === undefined ? undefined : toSigningKey(jwtPrivateKey);
    const previous = jwtPrivateKeyPrevious === undefined ? [] : [toSigningKey(jwtPrivateKeyPrevious)];
    // The same key twice would be published twice, which verifiers reject.
    const others = previous.filter(({ jwk }) => jwk.kid !== this.current?.jwk.kid);
    this.keys = this.current ? [this.current, ...others] : others;
  }

  /** The public keys with which other services verify tokens. */
  get published(): PublicJwk[] {
    return this.keys.map(({ jwk }) => jwk);
  }

  /** How new tokens of a type are signed. */
  signOptions(type: TokenType): JwtSignOptions {
    if (!this.current) return { secret: this.config.jwtSecret, algorithm: 'HS256' };
    const { privateKey, jwk } = this.current;
    const { issuer, audience } = this;
    const header = { alg: 'ES256', typ: MEDIA_TYPES[type] };
    return { privateKey, algorithm: 'ES256', keyid: jwk.kid, issuer, audience, header };
  }

  /**
   * The keys that may have signed a token; none for another algorithm or an unknown key, and for a token that this service
   * would not have signed so: other services tell access tokens by their media type, issuer and audience.
   */
  of(token: string): VerificationKey[] {
    const { header, payload } = this.decode(token) ?? {};
    // An extension that is not understood must be rejected (RFC 7515, section 4.1.11).
    if (header?.crit !== undefined) return [];
    if (header?.alg === 'ES256') {
      const isOurs = payload?.iss === this.issuer && payload.aud === this.audience;
      if (!isOurs || header.typ !== MEDIA_TYPES[payload.token_type as TokenType]) return [];
      const signers = this.keys.filter(({ jwk }) => jwk.kid === header.kid);
      return signers.map(({ publicKey: key }) => ({ key, algorithm: 'ES256' }));
    }
    if (header?.alg !== 'HS256' || (payload?.iss !== undefined && payload.iss !== this.issuer)) return [];
    const { jwtSecret, jwtSecretPrevious } = this.config;
    const secrets = [this.current ? undefined : jwtSecret, jwtSecretPrevious];
    return secrets.filter((key) => key !== undefined).map((key) => ({ key, algorithm: 'HS256' }));
  }

  /** Before the signature is verified. */
  private decode(token: string): { header: Members; payload: Members } | undefined {
    try {
      return this.jwt.decode(token, { complete: true }) as unknown as { header: Members; payload: Members };
    } catch {
      return undefined;
    }
  }
}

function toSigningKey(pem: string): SigningKey {
  const privateKey = createPrivateKey(pem);
  const publicKey = createPublicKey(privateKey);
  const { crv, kty, x, y } = publicKey.export({ format: 'jwk' });
  // The thumbprint of the key (RFC 7638): its members in this order.
  const kid = createHash('sha256').update(JSON.stringify({ crv, kty, x, y })).digest('base64url');
  return {
    privateKey,
    publicKey: publicKey.export({ type: 'spki', format: 'pem' }) as string,
    jwk: { kty, crv, x, y, kid, alg: 'ES256', use: 'sig' } as PublicJwk,
  };
}
