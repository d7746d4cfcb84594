import { createHash, generateKeyPairSync, randomBytes, sign } from 'node:crypto';

interface Options {
  readonly challenge: string;
  readonly rp?: { readonly id?: string };
  readonly rpId?: string;
}

interface Overrides {
  readonly origin?: string;
  readonly challenge?: string;
  readonly rpId?: string;
  /** Without user verification, such as a PIN. */
  readonly unverified?: boolean;
  readonly userHandle?: string;
  /** More members of the client data. */
  readonly clientData?: object;
  /** A COSE key instead of its own. */
  readonly publicKey?: Buffer;
}

const sha256 = (data: string | Buffer): Buffer => createHash('sha256').update(data).digest();

/** An authenticator in software (WebAuthn Level 3): it has one ES256 credential, and no attestation. */
export class Authenticator {
  readonly id: Buffer;
  counter = 0;
  private userHandle = '';
  private readonly keys = generateKeyPairSync('ec', { namedCurve: 'P-256' });

  /** @param idLength of its credential, in bytes */
  constructor(
    private readonly origin: string,
    idLength = 16,
  ) {
    this.id = randomBytes(idLength);
  }

  /** The response to the options of a registration, as `PublicKeyCredential.toJSON()` returns it. */
  create(options: Options & { readonly user: { readonly id: string } }, overrides: Overrides = {}) {
    this.userHandle = options.user.id;
    const clientDataJSON = this.clientData('webauthn.create', options, overrides);
    const authData = Buffer.concat([
      this.authData(overrides.rpId ?? options.rp!.id!, 0x40, overrides),
      Buffer.alloc(16),
      Buffer.from([this.id.length >> 8, this.id.length & 0xff]),
      this.id,
      overrides.publicKey ?? this.publicKey(),
    ]);
    const attestationObject = Buffer.concat([
      Buffer.from([0xa3]),
      text('fmt'),
      text('none'),
      text('attStmt'),
      Buffer.from([0xa0]),
      text('authData'),
      Buffer.from([0x59, authData.length >> 8, authData.length & 0xff]),
      authData,
    ]);
    return this.credential({
      clientDataJSON: clientDataJSON.toString('base64url'),
      attestationObject: attestationObject.toString('base64url'),
      transports: ['internal'],
    });
  }

  /** The response to the options of a login. */
  get(options: Options, overrides: Overrides = {}) {
    this.counter++;
    const clientDataJSON = this.clientData('webauthn.get', options, overrides);
    const authenticatorData = this.authData(overrides.rpId ?? options.rpId!, 0, overrides);
    const signed = Buffer.concat([authenticatorData, sha256(clientDataJSON)]);
    return this.credential({
      clientDataJSON: clientDataJSON.toString('base64url'),
      authenticatorData: authenticatorData.toString('base64url'),
      signature: sign('sha256', signed, this.keys.privateKey).toString('base64url'),
      userHandle: overrides.userHandle ?? this.userHandle,
    });
  }

  private credential(response: object) {
    const id = this.id.toString('base64url');
    return { id, rawId: id, type: 'public-key', response, clientExtensionResults: {} };
  }

  private clientData(type: string, { challenge }: Options, overrides: Overrides): Buffer {
    const { origin = this.origin } = overrides;
    return Buffer.from(
      JSON.stringify({
        type,
        challenge: overrides.challenge ?? challenge,
        origin,
        crossOrigin: false,
        ...overrides.clientData,
      }),
    );
  }

  private authData(rpId: string, more: number, { unverified = false }: Overrides): Buffer {
    const counter = Buffer.alloc(4);
    counter.writeUInt32BE(this.counter);
    return Buffer.concat([sha256(rpId), Buffer.from([0x01 | (unverified ? 0 : 0x04) | more]), counter]);
  }

  /** A COSE key (RFC 9053): ES256, P-256. */
  private publicKey(): Buffer {
    const { x, y } = this.keys.publicKey.export({ format: 'jwk' });
    return Buffer.concat([
      Buffer.from('a5010203262001215820', 'hex'),
      Buffer.from(x!, 'base64url'),
      Buffer.from('225820', 'hex'),
      Buffer.from(y!, 'base64url'),
    ]);
  }
}

/** A short text in CBOR. */
const text = (value: string): Buffer =>
  Buffer.concat([Buffer.from([0x60 + value.length]), Buffer.from(value)]);
