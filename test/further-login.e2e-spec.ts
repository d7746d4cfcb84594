import { expect, it } from '@jest/globals';
import {
  Body,
  Controller,
  HttpCode,
  Injectable,
  Module,
  Post,
  Req,
  Res,
  VERSION_NEUTRAL,
} from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { AccountChanges } from '../src/accounts/account-changes.js';
import { AccountMails } from '../src/accounts/account-mails.js';
import type { Account } from '../src/accounts/account.entity.js';
import { AccountsModule } from '../src/accounts/accounts.module.js';
import { AccountsService } from '../src/accounts/accounts.service.js';
import { AuthRoutes } from '../src/accounts/auth-routes.js';
import { invalidCode, MailTokens } from '../src/accounts/mail-tokens.js';
import { OneTimeSecrets } from '../src/accounts/one-time-secrets.js';
import { LoginModule } from '../src/accounts/login/login.module.js';
import { LoginSteps, SecondStepRequired } from '../src/accounts/login/login-steps.js';
import { CookieModule } from '../src/accounts/cookie/cookie.module.js';
import { SessionCookie } from '../src/accounts/cookie/cookie.strategy.js';
import { CookiesService } from '../src/accounts/cookie/cookies.service.js';
import { TokensModule } from '../src/accounts/tokens/tokens.module.js';
import { TokensService } from '../src/accounts/tokens/tokens.service.js';
import { AccountData, OwnedByAccount, type OwnedData, Public } from '../src/platform/access/index.js';
import { Client, type ClientInfo } from '../src/platform/http/client.js';
import { Text } from '../src/platform/http/validation/text.js';
import { bearer, PASSWORD, sessionOf } from './support/accounts.js';
import { MAILS, tokenIn } from './support/mail-server.js';
import { onEach } from './support/on-each.js';
import { QuickPasswordsModule } from './support/quick-passwords.module.js';
import { emailNotVerified } from '../src/accounts/login.errors.js';

const PURPOSE = 'log-in';
const SUBJECT = 'Log in';
const LIFETIME = 10 * 60_000;

class LinkInput {
  @Text()
  email!: string;
}

class LinkLoginInput {
  @Text()
  token!: string;
}

@Injectable()
@OwnedByAccount()
class LinksService implements OwnedData {
  constructor(
    private readonly accounts: AccountsService,
    private readonly mails: AccountMails,
    private readonly tokens: MailTokens,
    private readonly steps: LoginSteps,
    private readonly changes: AccountChanges,
    private readonly data: AccountData,
    private readonly secrets: OneTimeSecrets,
  ) {
    mails.register(PURPOSE, async ({ email }: LinkInput, attempt) => {
      const account = await this.accounts.findByEmail(email);
      if (!account) return undefined;
      const owner = { purpose: PURPOSE, accountId: account.id, email: account.email };
      const link = await this.tokens.issueLink(owner, LIFETIME, () => attempt.isCurrent());
      if (link === undefined) return undefined;
      return { to: { address: account.email }, subject: SUBJECT, text: link, html: link };
    });
  }

  onSessionsEnd({ id }: Pick<Account, 'id'>): Promise<void> {
    return this.secrets.end(id, PURPOSE);
  }

  async request(email: string, { address }: ClientInfo): Promise<void> {
    this.mails.requireOpen();
    if ((await this.mails.take('logins', email, address)) === 0)
      await this.mails.replace(PURPOSE, { email }, { email });
  }

  async authenticate(token: string) {
    const found = await this.tokens.get(PURPOSE, token);
    const id = found.accountId;
    const account = await this.changes.run(id, { actor: id, deleted: invalidCode }, async (locked) => {
      await this.tokens.use(found, locked);
      // Whoever registered the address may not own it, and keeps what they have added.
      if (!locked.isEmailVerified && (await this.data.hasOtherAccess(locked))) throw emailNotVerified();
      await this.accounts.markVerified(locked, { byOwner: false });
      locked.isEmailVerified = true;
      return locked;
    });
    return this.steps.after(account);
  }
}

@Controller({ path: 'auth/links', version: VERSION_NEUTRAL })
@AuthRoutes()
@Public()
class LinksController {
  constructor(
    private readonly links: LinksService,
    private readonly tokens: TokensService,
    private readonly sessions: CookiesService,
    private readonly cookie: SessionCookie,
  ) {}

  @Post()
  @HttpCode(202)
  request(@Body() { email }: LinkInput, @Client() client: ClientInfo) {
    return this.links.request(email, client);
  }

  @Post('tokens')
  @HttpCode(200)
  async logIn(@Body() { token }: LinkLoginInput, @Client() client: ClientInfo) {
    const next = await this.links.authenticate(token);
    return next instanceof SecondStepRequired ? next : this.tokens.open(next, client);
  }

  @Post('session')
  @HttpCode(200)
  async openSession(
    @Body() { token }: LinkLoginInput,
    @Client() client: ClientInfo,
    @Req() request: FastifyRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
  ) {
    const next = await this.links.authenticate(token);
    if (next instanceof SecondStepRequired) return next;
    const { view, credential } = await this.sessions.open(next, client, this.cookie.read(request));
    this.cookie.write(reply, credential);
    return view;
  }
}

/** A link by mail, as a team would add it: nothing outside of its folder depends on it. */
@Module({
  imports: [AccountsModule, LoginModule, CookieModule, TokensModule],
  controllers: [LinksController],
  providers: [LinksService],
})
class LinksModule {}

/** A way to log in that does nothing about e-mails that are not verified. */
@Controller({ path: 'auth/names', version: VERSION_NEUTRAL })
@AuthRoutes()
@Public()
class NamesController {
  constructor(
    private readonly accounts: AccountsService,
    private readonly steps: LoginSteps,
    private readonly tokens: TokensService,
  ) {}

  @Post()
  @HttpCode(200)
  async logIn(@Body() { email }: LinkInput, @Client() client: ClientInfo) {
    const next = await this.steps.after((await this.accounts.findByEmail(email))!);
    return next instanceof SecondStepRequired ? next : this.tokens.open(next, client);
  }
}

@Module({ imports: [AccountsModule, LoginModule, TokensModule], controllers: [NamesController] })
class NamesModule {}

const OPTIONS = { modules: [QuickPasswordsModule, LinksModule], servers: MAILS };
onEach('a further way to log in', OPTIONS, ({ api, mails }) => {
  const tokenFor = async (email: string) => {
    expect(await api.post('/auth/links', { email })).toHaveStatus(202);
    return tokenIn(await mails.nextWith(email, SUBJECT));
  };

  it('gets tokens for a link, once', async () => {
    await api.accounts.register('tokens@example.com');
    const token = await tokenFor('tokens@example.com');

    const { body, headers } = await api.post('/auth/links/tokens', { token });

    expect(headers['cache-control']).toBe('no-store');
    expect((await api.get('/auth/me/', bearer(body.access))).body.email).toBe('tokens@example.com');
    expect(await api.post('/auth/links/tokens', { token })).toBeError('INVALID_CODE');
  });

  it('opens a session under a new id, and ends the former one', async () => {
    await api.accounts.register('cookie@example.com');
    const former = await api.accounts.session('cookie@example.com');
    const token = await tokenFor('cookie@example.com');

    const reply = await api.post('/auth/links/session', { token }, former.cookie);

    expect(reply.body.account.email).toBe('cookie@example.com');
    const { cookie } = sessionOf(reply);
    expect(await api.get('/auth/session/', cookie)).toHaveStatus(200);
    expect(await api.get('/auth/session/', former.cookie)).toHaveStatus(401);
  });

  it('voids a link when the password changes', async () => {
    await api.accounts.register('changed@example.com');
    const token = await tokenFor('changed@example.com');

    await api.accounts.setPassword('changed@example.com', 'another password');

    expect(await api.post('/auth/links/tokens', { token })).toBeError('INVALID_CODE');
  });

  it('voids a link when the logins end', async () => {
    await api.accounts.register('ended@example.com');
    const { access } = await api.accounts.login('ended@example.com');
    const token = await tokenFor('ended@example.com');

    expect(await api.delete('/auth/sessions/', bearer(access))).toHaveStatus(204);

    expect(await api.post('/auth/links/tokens', { token })).toBeError('INVALID_CODE');
  });

  it('rejects a link of an account that was deleted', async () => {
    await api.accounts.register('deleted@example.com');
    const token = await tokenFor('deleted@example.com');

    await api.accounts.admin().delete('deleted@example.com');

    expect(await api.post('/auth/links/tokens', { token })).toBeError('INVALID_CODE');
  });

  it('does not verify the e-mail of an account that somebody else may have registered', async () => {
    await api.accounts.register('another@example.com');
    const { access } = await api.accounts.login('another@example.com');
    const key = { name: 'K', scope: 'read', password: PASSWORD };
    expect(await api.post('/auth/api-keys/', key, bearer(access))).toHaveStatus(201);
    const token = await tokenFor('another@example.com');

    expect(await api.post('/auth/links/tokens', { token })).toBeError('FORBIDDEN');

    expect((await api.get('/auth/me/', bearer(access))).body.is_email_verified).toBe(false);
  });
});

const VERIFIED = {
  settings: { REQUIRE_VERIFIED_EMAIL: 'on' },
  modules: [QuickPasswordsModule, LinksModule, NamesModule],
  servers: MAILS,
};
onEach('a further way to log in with REQUIRE_VERIFIED_EMAIL=on', VERIFIED, ({ api, mails }) => {
  const email = 'ada@example.com';

  it('opens no login until the e-mail is verified, which a link does', async () => {
    await api.accounts.register(email);
    expect(await api.post('/auth/names', { email })).toBeError('FORBIDDEN');
    expect(await api.post('/auth/links', { email })).toHaveStatus(202);
    const token = tokenIn(await mails.nextWith(email, SUBJECT));

    const { body } = await api.post('/auth/links/tokens', { token });

    expect((await api.get('/auth/me/', bearer(body.access))).body.is_email_verified).toBe(true);
    expect(await api.post('/auth/names', { email })).toHaveStatus(200);
  });
});
