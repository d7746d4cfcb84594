import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
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
import { AccountMails } from '../src/accounts/account-mails.js';
import { AccountsModule } from '../src/accounts/accounts.module.js';
import { AccountsService } from '../src/accounts/accounts.service.js';
import { MailTokens } from '../src/accounts/mail-tokens.js';
import { LoginModule } from '../src/auth/login/login.module.js';
import { LoginSteps, SecondStepRequired } from '../src/auth/login/login-steps.js';
import { SessionModule } from '../src/auth/session/session.module.js';
import { SessionCookie } from '../src/auth/session/session.strategy.js';
import { SessionsService } from '../src/auth/session/sessions.service.js';
import { TokensModule } from '../src/auth/tokens/tokens.module.js';
import { TokensService } from '../src/auth/tokens/tokens.service.js';
import { Public } from '../src/platform/access/index.js';
import { Transactions } from '../src/platform/database/transactions.js';
import { Client, type ClientInfo } from '../src/platform/http/client.js';
import { Text } from '../src/platform/http/validation/text.js';
import { bearer, sessionOf, startApi, type TestApi } from './support/api.js';
import { MailServer, tokenIn } from './support/mail-server.js';
import { QuickPasswordsModule } from './support/quick-passwords.module.js';
import { STORES } from './support/stores.js';

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
class LinksService {
  constructor(
    private readonly accounts: AccountsService,
    private readonly mails: AccountMails,
    private readonly tokens: MailTokens,
    private readonly steps: LoginSteps,
    private readonly transactions: Transactions,
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

  async request(email: string, { address }: ClientInfo): Promise<void> {
    if ((await this.mails.take('logins', email, address)) === 0)
      await this.mails.replace(PURPOSE, { email }, { email });
  }

  async authenticate(token: string) {
    const found = await this.tokens.find(PURPOSE, token);
    const account = await this.transactions.run(async () => {
      const locked = (await this.accounts.lock(found.accountId))!;
      await this.tokens.use(found, locked);
      return locked;
    });
    return this.steps.after(account);
  }
}

@Controller({ path: 'links', version: VERSION_NEUTRAL })
@Public()
class LinksController {
  constructor(
    private readonly links: LinksService,
    private readonly tokens: TokensService,
    private readonly sessions: SessionsService,
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
  imports: [AccountsModule, LoginModule, SessionModule, TokensModule],
  controllers: [LinksController],
  providers: [LinksService],
})
class LinksModule {}

describe.each(STORES)('a further way to log in on %s', (store) => {
  let api: TestApi;
  let server: MailServer;
  beforeAll(async () => {
    server = await MailServer.start();
    api = await startApi(store, server.settings, [QuickPasswordsModule, LinksModule]);
  });
  afterAll(async () => {
    await api.stop();
    await server.stop();
  });

  const tokenFor = async (email: string) => {
    expect(await api.post('/links', { email })).toHaveStatus(202);
    return tokenIn(await server.nextWith(email, SUBJECT));
  };

  it('gets tokens for a link, once', async () => {
    await api.accounts.register('tokens@example.com');
    const token = await tokenFor('tokens@example.com');

    const { body } = await api.post('/links/tokens', { token });

    expect((await api.get('/auth/me/', bearer(body.access))).body.email).toBe('tokens@example.com');
    expect(await api.post('/links/tokens', { token })).toBeError('INVALID_CODE');
  });

  it('opens a session under a new id, and ends the former one', async () => {
    await api.accounts.register('cookie@example.com');
    const former = await api.accounts.session('cookie@example.com');
    const token = await tokenFor('cookie@example.com');

    const reply = await api.post('/links/session', { token }, former.cookie);

    expect(reply.body.account.email).toBe('cookie@example.com');
    const { cookie } = sessionOf(reply);
    expect(await api.get('/auth/session/', cookie)).toHaveStatus(200);
    expect(await api.get('/auth/session/', former.cookie)).toHaveStatus(401);
  });

  it('voids a link when the password changes', async () => {
    await api.accounts.register('changed@example.com');
    const token = await tokenFor('changed@example.com');

    await api.accounts.setPassword('changed@example.com', 'another password');

    expect(await api.post('/links/tokens', { token })).toBeError('INVALID_CODE');
  });
});
