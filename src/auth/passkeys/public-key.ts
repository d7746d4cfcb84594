import { createPublicKey, type JsonWebKey } from 'node:crypto';
import { cose, decodeCredentialPublicKey } from '@simplewebauthn/server/helpers';

/** In bytes. */
const MIN_RSA_LENGTH = 256;

/** Whether a COSE key is one of the algorithms of `RelyingParty`: on its curve, and not too short. */
export function isPublicKey(key: Uint8Array<ArrayBuffer>): boolean {
  try {
    createPublicKey({ key: toJwk(key), format: 'jwk' });
    return true;
  } catch {
    // Node throws for a key that is none.
    return false;
  }
}

/** @throws Error for another kind of key */
function toJwk(bytes: Uint8Array<ArrayBuffer>): JsonWebKey {
  const key = decodeCredentialPublicKey(bytes);
  const { COSEKEYS, COSEALG, COSECRV } = cose;
  const alg = key.get(COSEKEYS.alg);
  if (cose.isCOSEPublicKeyEC2(key) && alg === COSEALG.ES256 && key.get(COSEKEYS.crv) === COSECRV.P256)
    return { kty: 'EC', crv: 'P-256', x: text(key.get(COSEKEYS.x)), y: text(key.get(COSEKEYS.y)) };
  if (cose.isCOSEPublicKeyOKP(key) && alg === COSEALG.EdDSA && key.get(COSEKEYS.crv) === COSECRV.ED25519)
    return { kty: 'OKP', crv: 'Ed25519', x: text(key.get(COSEKEYS.x)) };
  const [n, e] = cose.isCOSEPublicKeyRSA(key) ? [key.get(COSEKEYS.n), key.get(COSEKEYS.e)] : [];
  if (alg === COSEALG.RS256 && n && e && n.length >= MIN_RSA_LENGTH && e.length > 0)
    return { kty: 'RSA', n: text(n), e: text(e) };
  throw new Error('Not a key of a known algorithm');
}

const text = (bytes: Uint8Array = new Uint8Array()): string => Buffer.from(bytes).toString('base64url');
