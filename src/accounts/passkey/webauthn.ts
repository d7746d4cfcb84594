import { createPublicKey, type JsonWebKey } from 'node:crypto';
import { isIP } from 'node:net';
import { Injectable } from '@nestjs/common';
import {
  type AuthenticationResponseJSON,
  generateAuthenticationOptions,
  generateRegistrationOptions,
  type PublicKeyCredentialCreationOptionsJSON,
  type PublicKeyCredentialRequestOptionsJSON,
  type RegistrationResponseJSON,
  verifyAuthenticationResponse,
  verifyRegistrationResponse,
} from '@simplewebauthn/server';
import { cose, decodeCredentialPublicKey } from '@simplewebauthn/server/helpers';
import { SERVICE } from '../../platform/config/package.js';
import { Config } from '../../platform/config/config.js';
import { AppError } from '../../platform/http/errors/errors.js';
import type { Account } from '../account.entity.js';
import { Challenges } from './challenges.js';
import type { Passkey } from './passkey.entity.js';

/** EdDSA, ES256 and RS256 (RFC 9053, RFC 8812): what authenticators in use have. */
const ALGORITHMS = [-8, -7, -257];

/** Of an RSA key, in bytes. */
const MIN_RSA_LENGTH = 256;

/** 1023 bytes in base64url (WebAuthn Level 3, section 4); PostgreSQL cannot index an id of any length. */
const MAX_ID_LENGTH = 1364;

/** WebAuthn Level 3, section 5.8.4 */
const TRANSPORTS = ['ble', 'hybrid', 'internal', 'nfc', 'smart-card', 'usb'];

export const NO_DOMAIN = 'Passkeys need a PUBLIC_URL with a domain name, which this service does not have';

/** What a response to a registration is stored as. */
type NewCredential = Pick<Passkey, 'credentialId' | 'publicKey' | 'counter' | 'transports'>;

/** The ceremonies of WebAuthn (Level 3), with this service as the relying party. It stores nothing but used challenges. */
@Injectable()
export class WebAuthn {
  private readonly domain: string | undefined;
  /** The origins of pages that may use passkeys. */
  private readonly origins: string[];

  constructor(
    private readonly challenges: Challenges,
    { publicUrl, corsOrigins, production }: Config,
  ) {
    const url = new URL(publicUrl);
    // WebAuthn accepts no address as the id of a relying party.
    const isAddress = isIP(url.hostname.replace(/^\[|\]$/g, '')) !== 0;
    if (isAddress) url.hostname = 'localhost';
    this.domain = isAddress && production ? undefined : url.hostname;
    this.origins = [url.origin, ...(corsOrigins === '*' ? [] : corsOrigins)];
  }

  /** @throws AppError `SERVICE_UNAVAILABLE` in production, if `PUBLIC_URL` has no domain */
  requireDomain(): string {
    if (this.domain === undefined) throw new AppError('SERVICE_UNAVAILABLE', NO_DOMAIN);
    return this.domain;
  }

  /** @param known passkeys of the account, which are not registered twice */
  registrationOptions(
    { id, email, name }: Account,
    known: readonly Passkey[],
  ): Promise<PublicKeyCredentialCreationOptionsJSON> {
    return generateRegistrationOptions({
      rpName: SERVICE.title,
      rpID: this.requireDomain(),
      userName: email,
      userDisplayName: name,
      userID: new Uint8Array(Buffer.from(String(id))),
      challenge: this.challenges.issue(registrationOf(id)),
      excludeCredentials: known.map(({ credentialId, transports }) => ({
        id: credentialId,
        transports: JSON.parse(transports) as string[],
      })),
      supportedAlgorithmIDs: ALGORITHMS,
      authenticatorSelection: { residentKey: 'required', userVerification: 'required' },
    });
  }

  /** @returns `undefined` for a response that does not match, or whose challenge was used or has expired */
  async verifyRegistration(
    accountId: number,
    response: RegistrationResponseJSON,
  ): Promise<NewCredential | undefined> {
    const expectedRPID = this.requireDomain();
    const purpose = registrationOf(accountId);
    const expectedChallenge = await this.challenges.use(response.response.clientDataJSON, purpose);
    if (expectedChallenge === undefined) return undefined;
    try {
      const { registrationInfo } = await verifyRegistrationResponse({
        response,
        expectedChallenge,
        expectedOrigin: this.origins,
        expectedRPID,
        requireUserVerification: true,
        supportedAlgorithmIDs: ALGORITHMS,
      });
      const credential = registrationInfo?.credential;
      if (!credential || credential.id.length > MAX_ID_LENGTH || !isPublicKey(credential.publicKey))
        return undefined;
      return {
        credentialId: credential.id,
        publicKey: Buffer.from(credential.publicKey).toString('base64url'),
        counter: credential.counter,
        transports: JSON.stringify(transportsOf(credential.transports)),
      };
    } catch {
      // The library throws for every response that is malformed or does not match.
      return undefined;
    }
  }

  /** A fresh challenge, and otherwise the same for everybody: it does not reveal who has passkeys. */
  loginOptions(): Promise<PublicKeyCredentialRequestOptionsJSON> {
    return generateAuthenticationOptions({
      rpID: this.requireDomain(),
      challenge: this.challenges.issue(LOGIN),
      userVerification: 'required',
    });
  }

  /** Uses the challenge that a login responds to. @returns `undefined` if it was used or has expired */
  useLoginChallenge({ response }: AuthenticationResponseJSON): Promise<string | undefined> {
    return this.challenges.use(response.clientDataJSON, LOGIN);
  }

  /** @returns the new counter of the authenticator; `null` for a response that does not match */
  async verifyLogin(
    { credentialId, publicKey, counter }: Passkey,
    response: AuthenticationResponseJSON,
    expectedChallenge: string,
  ): Promise<number | null> {
    try {
      const { verified, authenticationInfo } = await verifyAuthenticationResponse({
        response,
        expectedChallenge,
        expectedOrigin: this.origins,
        expectedRPID: this.requireDomain(),
        credential: {
          id: credentialId,
          publicKey: new Uint8Array(Buffer.from(publicKey, 'base64url')),
          counter,
        },
        requireUserVerification: true,
      });
      return verified ? authenticationInfo.newCounter : null;
    } catch {
      // The library throws for every response that is malformed or does not match.
      return null;
    }
  }
}

/** The id of an account for authenticators, in base64url. */
export const toUserHandle = (accountId: number): string =>
  Buffer.from(String(accountId)).toString('base64url');

/** The purposes of challenges. */
const LOGIN = 'login';
const registrationOf = (accountId: number): string => `registration of ${toUserHandle(accountId)}`;

/** A client may send anything, and gets them back in options. */
const transportsOf = (sent: unknown): string[] =>
  TRANSPORTS.filter((transport) => Array.isArray(sent) && sent.includes(transport));

/** Whether a COSE key is of one of the algorithms: on its curve, and not too short. */
function isPublicKey(key: Uint8Array<ArrayBuffer>): boolean {
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
