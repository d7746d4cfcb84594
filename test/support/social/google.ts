import { createSign, generateKeyPairSync } from 'node:crypto';
import type { RequestListener } from 'node:http';
import { Provider } from 'oidc-provider';
import type { Page } from 'playwright-core';
import { decode } from '../forged-tokens.js';
import { HttpServer } from '../test-server.ts';

type Claims = Record<string, unknown>;

const KEY_ID = 'signing';
const keys = generateKeyPairSync('rsa', { modulusLength: 2048 });
const otherKeys = generateKeyPairSync('rsa', { modulusLength: 2048 });

const encode = (part: unknown) => Buffer.from(JSON.stringify(part)).toString('base64url');

function sign(claims: Claims, key = keys.privateKey): string {
  const text = `${encode({ alg: 'RS256', typ: 'JWT', kid: KEY_ID })}.${encode(claims)}`;
  return `${text}.${createSign('sha256').update(text).sign(key).toString('base64url')}`;
}

/** Changes the claims of ID tokens before they are signed again. */
export type Tampering = (claims: Claims) => Claims;

/** A real OpenID provider in place of Google. */
export class Google extends HttpServer {
  readonly clientId = 'our-client-id';
  readonly clientSecret = 'the secret that Google knows us by';
  /** The claims of each person, by login name. */
  readonly people: Record<string, Claims> = {};
  tampering: Tampering | undefined;
  /** Signs with an unpublished key. */
  forging = false;
  /** Accepts requests, and never responds. */
  hanging = false;
  /** The delay of each response, in milliseconds. */
  delay = 0;

  /** @param claimsIn where the claims of the profile are: Google puts them into the ID token */
  constructor(
    private readonly redirectUri: string,
    private readonly claimsIn: 'id token' | 'user info' = 'id token',
  ) {
    super();
  }

  get issuer(): string {
    return `http://localhost:${this.port}`;
  }

  /** Adds a person, with an address of the login name by default. @returns the login name */
  addPerson(login: string, more: Claims = {}): string {
    this.people[login] = {
      email: `${login}@example.com`,
      email_verified: true,
      name: 'Ada Lovelace',
      ...more,
    };
    return login;
  }

  get settings(): Record<string, string> {
    return {
      GOOGLE_CLIENT_ID: this.clientId,
      GOOGLE_CLIENT_SECRET: this.clientSecret,
      GOOGLE_ISSUER: this.issuer,
    };
  }

  protected listener(): RequestListener {
    const respond = this.provider().callback();
    return (request, response) => {
      if (!this.hanging) setTimeout(() => void respond(request, response), this.delay);
    };
  }

  private provider(): Provider {
    const provider = quietly(
      () =>
        new Provider(this.issuer, {
          clients: [
            {
              client_id: this.clientId,
              client_secret: this.clientSecret,
              redirect_uris: [this.redirectUri],
              token_endpoint_auth_method: 'client_secret_post',
            },
          ],
          claims: { openid: ['sub'], email: ['email', 'email_verified'], profile: ['name'] },
          conformIdTokenClaims: this.claimsIn === 'user info',
          cookies: { keys: ['cookies of the tests'] },
          jwks: {
            keys: [{ ...keys.privateKey.export({ format: 'jwk' }), kid: KEY_ID, alg: 'RS256', use: 'sig' }],
          },
          ttl: { AccessToken: 600, Grant: 600, IdToken: 600, Interaction: 600, Session: 600 },
          pkce: { required: () => true },
          findAccount: (_, login) => ({
            accountId: login,
            claims: () => ({ sub: login, ...this.people[login] }),
          }),
        }),
    );
    provider.use(async (context, next) => {
      await next();
      const body = context.body as { id_token?: string } | undefined;
      if (context.path !== '/token' || body?.id_token === undefined) return;
      const claims = decode(body.id_token.split('.')[1]!);
      if (this.tampering) body.id_token = sign(this.tampering(claims));
      if (this.forging) body.id_token = sign(claims, otherKeys.privateKey);
    });
    return provider;
  }
}

/** Logs in on the pages of the provider, and lets it give the service what it asks for. */
export async function logInAtGoogle(page: Page, login: string): Promise<void> {
  await page.fill('[name=login]', login);
  await page.fill('[name=password]', 'a password at Google');
  await page.click('[type=submit]');
  await page.click('[type=submit]:text("Continue")');
}

/** Hides the warnings of the provider about its development settings. */
function quietly<T>(make: () => T): T {
  const { warn, info } = console;
  console.warn = console.info = () => undefined;
  try {
    return make();
  } finally {
    Object.assign(console, { warn, info });
  }
}
