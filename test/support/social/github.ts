import { createHash, randomUUID } from 'node:crypto';
import type { RequestListener } from 'node:http';
import { fastify } from 'fastify';
import { HttpServer } from '../test-server.ts';

interface Person {
  readonly id: number;
  readonly login: string;
  readonly name: string | null;
  readonly emails: readonly { email: string; primary: boolean; verified: boolean }[];
}

/** The OAuth and API endpoints of GitHub that a login uses, as in its documentation. */
export class GitHub extends HttpServer {
  readonly clientId = 'our-github-id';
  readonly clientSecret = 'the secret that GitHub knows us by';
  /** The person who logs in. */
  person: Person = { id: 1, login: 'octocat', name: null, emails: [] };
  /** The status of the API responses. */
  status = 200;
  /** Replaces the API response about the user. */
  user: unknown;
  private readonly grants = new Map<string, { challenge: string; redirectUri: string }>();

  get settings(): Record<string, string> {
    return {
      GITHUB_CLIENT_ID: this.clientId,
      GITHUB_CLIENT_SECRET: this.clientSecret,
      GITHUB_URL: this.url,
      GITHUB_API_URL: `${this.url}/api/v3`,
    };
  }

  protected async listener(): Promise<RequestListener> {
    const server = fastify();
    server.addContentTypeParser('application/x-www-form-urlencoded', { parseAs: 'string' }, (_, body, done) =>
      done(null, Object.fromEntries(new URLSearchParams(body as string))),
    );
    server.get('/login/oauth/authorize', ({ query }, reply) => {
      const parameters = query as Record<string, string>;
      const code = randomUUID();
      this.grants.set(code, {
        challenge: parameters['code_challenge']!,
        redirectUri: parameters['redirect_uri']!,
      });
      const url = new URL(parameters['redirect_uri']!);
      url.search = new URLSearchParams({ code, state: parameters['state']! }).toString();
      return reply.redirect(url.href);
    });
    server.post('/login/oauth/access_token', ({ body }) => this.exchange(body as Record<string, string>));
    server.get('/api/v3/user', async ({ headers }, reply) => {
      if (headers.authorization !== 'Bearer gho_token') return reply.status(401).send({});
      const { emails: _, ...user } = this.person;
      return reply.status(this.status).send(this.user ?? user);
    });
    server.get('/api/v3/user/emails', async () => this.person.emails);
    await server.ready();
    return (request, response) => server.routing(request, response);
  }

  /** GitHub returns errors with status 200. */
  private exchange(sent: Record<string, string>): object {
    const grant = this.grants.get(sent['code'] ?? '');
    this.grants.delete(sent['code'] ?? '');
    const challenge = createHash('sha256')
      .update(sent['code_verifier'] ?? '')
      .digest('base64url');
    if (sent['client_id'] !== this.clientId || sent['client_secret'] !== this.clientSecret) {
      return { error: 'incorrect_client_credentials', error_description: 'The client credentials are wrong' };
    }
    if (grant?.challenge !== challenge || grant.redirectUri !== sent['redirect_uri']) {
      return {
        error: 'bad_verification_code',
        error_description: 'The code passed is incorrect or expired.',
      };
    }
    return { access_token: 'gho_token', token_type: 'bearer', scope: 'read:user,user:email' };
  }
}
