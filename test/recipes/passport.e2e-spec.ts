import { createHmac, timingSafeEqual } from 'node:crypto';
import { beforeAll, describe, expect, it } from '@jest/globals';
import {
  type CanActivate,
  Controller,
  type ExecutionContext,
  Get,
  HttpCode,
  Injectable,
  Module,
  Post,
  Request,
  SetMetadata,
  type Type,
  UnauthorizedException,
  UseGuards,
} from '@nestjs/common';
import { APP_GUARD, Reflector } from '@nestjs/core';
import { GqlExecutionContext, Query, Resolver } from '@nestjs/graphql';
import { JwtService } from '@nestjs/jwt';
import { AuthGuard, PassportModule, PassportStrategy } from '@nestjs/passport';
import type { FastifyRequest } from 'fastify';
import passport from 'passport';
import { ExtractJwt, Strategy as PassportJwtStrategy } from 'passport-jwt';
import { Strategy as PassportLocalStrategy } from 'passport-local';
import { createApp } from '../../src/app.js';
import {
  Credential,
  CurrentAccount,
  Public,
  RequestStrategy,
  tokenNotValid,
} from '../../src/platform/access/index.js';
import type { Account } from '../../src/accounts/account.entity.js';
import { AccountsModule } from '../../src/accounts/accounts.module.js';
import { AccountsService } from '../../src/accounts/accounts.service.js';
import { loadConfig } from '../../src/platform/config/load-config.js';
import { bearer, type Tokens } from '../support/accounts.js';
import { startApi } from '../support/api.js';
import { FixtureModule } from '../support/fixture.module.js';
import { onEach } from '../support/on-each.js';
import { createStore, STORES } from '../support/stores.js';

// `AuthGuard('jwt')`, over REST and over GraphQL.

@Injectable()
class JwtAuthGuard extends AuthGuard('jwt') {}

@Injectable()
class GqlAuthGuard extends AuthGuard('jwt') {
  override getRequest(context: ExecutionContext): unknown {
    return GqlExecutionContext.create(context).getContext().req;
  }
}

@Controller({ path: 'profile', version: '1' })
class ProfileController {
  @Public()
  @UseGuards(AuthGuard('jwt'))
  @Get('guarded')
  guarded(@Request() req: FastifyRequest): object {
    return { email: req.user!.email };
  }

  @Public()
  @UseGuards(JwtAuthGuard)
  @Get('named')
  named(@CurrentAccount() account: Account): object {
    return { email: account.email };
  }

  @Get('global')
  global(@Request() req: FastifyRequest, @CurrentAccount() account: Account): object {
    return { email: req.user!.email, same: req.user === account };
  }
}

@Resolver()
class ProfileResolver {
  @Query(() => String)
  @Public()
  @UseGuards(GqlAuthGuard)
  whoAmI(@CurrentAccount() account: Account): string {
    return account.email;
  }

  @Query(() => String)
  whoAmIByTheGlobalGuard(@CurrentAccount() account: Account): string {
    return account.email;
  }
}

@Module({ controllers: [ProfileController], providers: [ProfileResolver] })
class ProfileModule {}

// passport-local.

@Injectable()
class AuthService {
  async validateUser(username: string, password: string): Promise<object | null> {
    return username === 'john' && password === 'changeme' ? { userId: 1, username } : null;
  }
}

@Injectable()
class LocalStrategy extends PassportStrategy(PassportLocalStrategy) {
  constructor(private readonly authService: AuthService) {
    super();
  }

  async validate(username: string, password: string): Promise<object> {
    const user = await this.authService.validateUser(username, password);
    if (!user) throw new UnauthorizedException();
    return user;
  }
}

@Controller({ path: 'local', version: '1' })
class LocalController {
  @Public()
  @UseGuards(AuthGuard('local'))
  @Post('login')
  @HttpCode(200)
  login(@Request() req: FastifyRequest): unknown {
    return req.user;
  }
}

@Module({
  imports: [PassportModule],
  controllers: [LocalController],
  providers: [AuthService, LocalStrategy],
})
class LocalModule {}

// An additional credential for the whole API.

@Injectable()
@Credential()
class SignedRequestStrategy extends PassportStrategy(RequestStrategy, 'signed-request') {
  constructor(private readonly accounts: AccountsService) {
    super();
  }

  async validate({ method, url, headers }: FastifyRequest): Promise<Account | null> {
    const { 'x-partner': name, 'x-signature': signature } = headers;
    if (typeof name !== 'string' || typeof signature !== 'string') return null;
    const right = createHmac('sha256', SIGNING_SECRET).update(`${method} ${url}`).digest();
    const sent = Buffer.from(signature, 'hex');
    if (sent.length !== right.length || !timingSafeEqual(sent, right)) throw tokenNotValid();
    return this.accounts.findByEmail(`${name}@example.com`);
  }
}

const SIGNING_SECRET = 'the secret that a partner signs its requests with';

const signed = (method: string, url: string, secret = SIGNING_SECRET) => ({
  'x-partner': 'ada',
  'x-signature': createHmac('sha256', secret).update(`${method} ${url}`).digest('hex'),
});

@Module({ imports: [AccountsModule], providers: [SignedRequestStrategy] })
class SignedRequestsModule {}

// Tokens of a third party, for some routes.

const PARTNER_SECRET = 'the secret of a partner, who signs tokens of their own';
let partnerTokensChecked = 0;

@Injectable()
class PartnerStrategy extends PassportStrategy(PassportJwtStrategy, 'jwt-partner') {
  constructor() {
    super({
      jwtFromRequest: ExtractJwt.fromAuthHeaderAsBearerToken(),
      ignoreExpiration: false,
      secretOrKey: PARTNER_SECRET,
    });
  }

  validate(payload: { sub: string }): object {
    partnerTokensChecked++;
    return { partner: payload.sub };
  }
}

@Controller({ path: 'partner', version: '1' })
class PartnerController {
  @Public()
  @UseGuards(AuthGuard('jwt-partner'))
  @Get()
  forPartners(@Request() req: FastifyRequest): unknown {
    return req.user;
  }

  /** Accepts either credential. */
  @Public()
  @UseGuards(AuthGuard(['jwt-partner', 'local']))
  @Post('either')
  @HttpCode(200)
  forEither(@Request() req: FastifyRequest): unknown {
    return req.user;
  }
}

@Module({ controllers: [PartnerController], providers: [PartnerStrategy] })
class PartnerModule {}

// Roles.

const Roles = (...roles: string[]) => SetMetadata('roles', roles);

@Injectable()
class RolesGuard implements CanActivate {
  constructor(private readonly reflector: Reflector) {}

  canActivate(context: ExecutionContext): boolean {
    const roles = this.reflector.getAllAndOverride<string[] | undefined>('roles', [
      context.getHandler(),
      context.getClass(),
    ]);
    if (!roles) return true;
    const { user } = context.switchToHttp().getRequest<{ user: Account }>();
    return roles.includes(user.role);
  }
}

@Controller({ path: 'roles', version: '1' })
class RolesController {
  @Get('admin')
  @Roles('admin')
  admin(): object {
    return { ok: true };
  }

  @Get('anyone')
  anyone(): object {
    return { ok: true };
  }
}

@Module({ controllers: [RolesController], providers: [{ provide: APP_GUARD, useClass: RolesGuard }] })
class RolesModule {}

// The strategy in the documentation, whose default name is that of the service's own.

@Injectable()
class JwtStrategy extends PassportStrategy(PassportJwtStrategy) {
  constructor() {
    super({ jwtFromRequest: ExtractJwt.fromAuthHeaderAsBearerToken(), secretOrKey: 'a secret of its own' });
  }

  validate(payload: object): object {
    return payload;
  }
}

@Module({ providers: [JwtStrategy] })
class ForeignJwtModule {}

const MODULES = [FixtureModule, ProfileModule, LocalModule, SignedRequestsModule, PartnerModule, RolesModule];

const OPTIONS = { settings: { WRITE_ACCESS: 'authenticated' }, modules: MODULES };
onEach('Passport as in the Nest documentation', OPTIONS, ({ api, store }) => {
  let ada: Tokens;
  let bob: Tokens;
  beforeAll(async () => {
    await api.accounts.register('ada@example.com');
    await api.accounts.register('bob@example.com');
    ada = await api.accounts.login('ada@example.com');
    bob = await api.accounts.login('bob@example.com');
  });

  const partnerToken = () =>
    new JwtService().sign({ sub: 'acme' }, { secret: PARTNER_SECRET, expiresIn: 60 });

  it.each(['guarded', 'named', 'global'])('accepts only an access token with a guard: %s', async (route) => {
    const get = (headers?: Record<string, string>) => api.get(`/v1/profile/${route}`, headers);

    expect((await get(bearer(ada.access))).body).toMatchObject({ email: 'ada@example.com' });
    expect(await get()).toBeError('UNAUTHENTICATED');
    for (const token of [ada.refresh, 'garbage', `${ada.access}x`, partnerToken()]) {
      expect(await get(bearer(token))).toBeError('TOKEN_NOT_VALID');
    }
  });

  it('sets request.user to the value of @CurrentAccount()', async () => {
    const { body } = await api.get('/v1/profile/global', bearer(ada.access));
    expect(body).toEqual({ email: 'ada@example.com', same: true });
  });

  it('rejects the token of a deactivated account', async () => {
    await api.accounts.register('eve@example.com');
    const eve = await api.accounts.login('eve@example.com');
    expect(await api.get('/v1/profile/guarded', bearer(eve.access))).toHaveStatus(200);

    await api.accounts.admin().setActive('eve@example.com', false);
    expect(await api.get('/v1/profile/guarded', bearer(eve.access))).toBeError('TOKEN_NOT_VALID');
  });

  it('guards resolvers with a guard that reads the request from the context', async () => {
    const query = '{ whoAmI }';
    expect((await api.graphql(query, {}, bearer(ada.access))).body).toEqual({
      data: { whoAmI: 'ada@example.com' },
    });
    expect((await api.graphql(query)).body.errors[0].extensions.code).toBe('UNAUTHENTICATED');
    expect(await api.graphql(query, {}, bearer(ada.refresh))).toHaveStatus(401);
  });

  it('logs in with a local strategy', async () => {
    const login = (body: object) => api.post('/v1/local/login', body);

    const reply = await login({ username: 'john', password: 'changeme' });
    expect(reply).toHaveStatus(200);
    expect(reply.body).toEqual({ userId: 1, username: 'john' });
    expect(await login({ username: 'john', password: 'wrong' })).toBeError('UNAUTHENTICATED');
    expect(await login({})).toBeError('UNAUTHENTICATED');
  });

  it('accepts a signed request wherever an account is required, over REST and GraphQL', async () => {
    const path = '/v1/profile/global';
    expect((await api.getOnly(path, signed('GET', path))).body).toEqual({
      email: 'ada@example.com',
      same: true,
    });
    expect((await api.getOnly('/auth/me/', signed('GET', '/auth/me/'))).body).toMatchObject({
      email: 'ada@example.com',
    });
    const query = '{ whoAmIByTheGlobalGuard }';
    expect((await api.graphql(query, {}, signed('POST', '/graphql'))).body).toEqual({
      data: { whoAmIByTheGlobalGuard: 'ada@example.com' },
    });
    expect(await api.getOnly(path, signed('GET', path, 'another secret'))).toBeError('TOKEN_NOT_VALID');
    expect(await api.getOnly(path, signed('GET', '/another/path'))).toBeError('TOKEN_NOT_VALID');
    expect(await api.getOnly(path, { 'x-partner': 'ada' })).toBeError('UNAUTHENTICATED');
    const { body } = await api.graphql(query, {}, signed('POST', '/graphql', 'another secret'));
    expect(body.errors[0].extensions.code).toBe('UNAUTHENTICATED');
    // A signature is not an access token.
    const guarded = '/v1/profile/guarded';
    expect(await api.getOnly(guarded, signed('GET', guarded))).toBeError('UNAUTHENTICATED');
  });

  it('accepts a signed request for writes that require an account', async () => {
    const dummy = { text: 'By signature' };
    const count = async () => (await api.get('/v1/dummies')).body.meta.total;
    const before = await count();

    expect(await api.post('/v1/dummies', dummy, signed('POST', '/v1/dummies'))).toHaveStatus(201);
    expect(await api.post('/v1/dummies', dummy, signed('GET', '/v1/dummies'))).toBeError('TOKEN_NOT_VALID');
    expect(await count()).toBe(before + 1);
  });

  it('uses a strategy without @Credential() only on its routes', async () => {
    const headers = bearer(partnerToken());

    expect((await api.get('/v1/partner', headers)).body).toEqual({ partner: 'acme' });
    expect((await api.post('/v1/partner/either', {}, headers)).body).toEqual({ partner: 'acme' });
    expect(await api.get('/v1/partner', bearer(ada.access))).toBeError('UNAUTHENTICATED');
    const checked = partnerTokensChecked;
    expect(await api.get('/v1/profile/global', headers)).toBeError('TOKEN_NOT_VALID');
    expect(await api.post('/v1/dummies', {}, headers)).toBeError('TOKEN_NOT_VALID');
    expect(partnerTokensChecked).toBe(checked);
  });

  it('provides request.user to a global guard of a module', async () => {
    expect(await api.get('/v1/roles/admin')).toBeError('UNAUTHENTICATED');
    expect(await api.get('/v1/roles/admin', bearer(bob.access))).toBeError('FORBIDDEN');
    expect(await api.get('/v1/roles/anyone', bearer(bob.access))).toHaveStatus(200);

    await api.accounts.admin().setStaff('bob@example.com', true);
    bob = await api.accounts.login('bob@example.com');
    expect(await api.get('/v1/roles/admin', bearer(bob.access))).toHaveStatus(200);
  });

  it.each(['guarded', 'global'])('gives each of 20 concurrent requests its account: %s', async (route) => {
    const emails = Array.from({ length: 20 }, (_, n) => (n % 2 ? 'ada@example.com' : 'bob@example.com'));

    const replies = await Promise.all(
      emails.map((email) =>
        api.get(`/v1/profile/${route}`, bearer((email.startsWith('ada') ? ada : bob).access)),
      ),
    );

    expect(replies.map(({ body }) => body.email)).toEqual(emails);
  });

  it('separates two applications in one process', async () => {
    const start = async (secret: string) => {
      const other = await startApi(store, { JWT_SECRET: secret }, MODULES);
      await other.accounts.register('ada@example.com');
      return { api: other, headers: bearer((await other.accounts.login('ada@example.com')).access) };
    };
    const first = await start('the first secret, which is long enough');
    const second = await start('the second secret, which is long enough');

    for (const [own, other] of [
      [first, second],
      [second, first],
    ] as const) {
      expect(await own.api.get('/auth/me/', own.headers)).toHaveStatus(200);
      expect(await own.api.get('/auth/me/', other.headers)).toBeError('TOKEN_NOT_VALID');
    }

    await second.api.stop();
    expect(await first.api.get('/auth/me/', first.headers)).toHaveStatus(200);
    await first.api.stop();
  });
});

describe.each(STORES)("a second strategy named 'jwt' on %s", (store) => {
  const MESSAGE =
    "Another Passport strategy is registered as 'jwt', the name of this service's own; give it another name";

  async function startWith(...modules: Type[]): Promise<void> {
    const testStore = await createStore(store);
    const config = loadConfig({ NODE_ENV: 'test', LOG_LEVEL: 'silent', ...testStore.environment });
    try {
      const app = await createApp(config, { modules });
      await app.close();
    } finally {
      passport.unuse('jwt');
      await testStore.remove();
    }
  }

  it('stops the start', async () => {
    await expect(startWith(ForeignJwtModule)).rejects.toThrow(MESSAGE);
    // The failed start leaves nothing registered.
    await startWith();
  });

  it('stops the start if it was registered before', async () => {
    expect(new JwtStrategy()).toBeInstanceOf(PassportJwtStrategy);

    await expect(startWith()).rejects.toThrow(MESSAGE);
  });
});
