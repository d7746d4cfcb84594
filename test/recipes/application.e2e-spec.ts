import { once } from 'node:events';
import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { Controller, Get, Logger, type MessageEvent, Module, Sse } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { WsAdapter } from '@nestjs/platform-ws';
import { Test } from '@nestjs/testing';
import { InjectRepository, TypeOrmModule } from '@nestjs/typeorm';
import { ConnectedSocket, MessageBody, SubscribeMessage, WebSocketGateway } from '@nestjs/websockets';
import type { FastifyInstance } from 'fastify';
import { interval, map, type Observable, take } from 'rxjs';
import type { Repository } from 'typeorm';
import { WebSocket } from 'ws';
import { appOptions, createApp, initApp } from '../../src/app.js';
import { AppModule } from '../../src/app.module.js';
import { CurrentAccount, OptionalAccess, Public, WriteAccess } from '../../src/platform/access/index.js';
import { Account } from '../../src/accounts/account.entity.js';
import { AccountsService } from '../../src/accounts/accounts.service.js';
import { Clock } from '../../src/platform/jobs/clock.js';
import { createFastifyAdapter } from '../../src/platform/http/edge/fastify-adapter.js';
import { Config } from '../../src/platform/config/config.js';
import { loadConfig } from '../../src/platform/config/load-config.js';
import { bearer } from '../support/accounts.js';
import { TestApi } from '../support/api.js';
import { FixtureModule } from '../support/fixture.module.js';
import { DummiesService } from '../support/fixture/dummies.service.js';
import { createStore, STORES, type TestStore } from '../support/stores.js';

@Controller({ path: 'ticks', version: '1' })
class TicksController {
  constructor(@InjectRepository(Account) private readonly accounts: Repository<Account>) {}

  @Sse('public')
  @Public()
  ticks(): Observable<MessageEvent> {
    return interval(5).pipe(
      take(2),
      map((n) => ({ data: { n } })),
    );
  }

  @Sse('private')
  async privateTicks(@CurrentAccount() account: Account): Promise<Observable<MessageEvent>> {
    const accounts = await this.accounts.count();
    return interval(5).pipe(
      take(1),
      map(() => ({ data: { account: account.id, accounts } })),
    );
  }
}

@WebSocketGateway({ path: '/rooms' })
class RoomsGateway {
  @Public()
  @SubscribeMessage('echo')
  echo(@MessageBody() text: string): object {
    return { event: 'echo', data: text };
  }

  @OptionalAccess()
  @SubscribeMessage('optional')
  optional(): object {
    return { event: 'optional', data: 'reached' };
  }

  @WriteAccess()
  @SubscribeMessage('write')
  write(): object {
    return { event: 'write', data: 'reached' };
  }

  @SubscribeMessage('whoami')
  whoAmI(@CurrentAccount() account: Account, @ConnectedSocket() _client: WebSocket): object {
    return { event: 'whoami', data: account.email };
  }
}

@Module({ imports: [TypeOrmModule.forFeature([Account])], controllers: [TicksController] })
class TicksModule {}

@Module({ providers: [RoomsGateway] })
class RoomsModule {}

@Controller({ path: 'plugged', version: '1' })
@Public()
class PluggedController {
  @Get()
  get(): object {
    return {};
  }
}

@Module({ controllers: [PluggedController] })
class PluggedModule {}

describe.each(STORES)('the application on %s', (store) => {
  let testStore: TestStore;
  beforeAll(async () => {
    testStore = await createStore(store);
  });
  afterAll(() => testStore.remove());

  const config = () => loadConfig({ NODE_ENV: 'test', LOG_LEVEL: 'silent', ...testStore.environment });
  const apiOf = (app: NestFastifyApplication) => new TestApi({ app, config: config() });

  it('can be built by a testing module with overridden providers', async () => {
    const module = await Test.createTestingModule({ imports: [AppModule.with(config(), [FixtureModule])] })
      .overrideProvider(Clock)
      .useValue({ now: () => new Date('2030-01-01T00:00:00Z') })
      .compile();
    const app = module.createNestApplication<NestFastifyApplication>(
      createFastifyAdapter(config()),
      appOptions(config()),
    );
    const api = apiOf(await initApp(app));

    const { body } = await api.post('/v1/dummies', { text: 'A' });
    expect(body.data.created_at).toBe('2030-01-01T00:00:00.000Z');
    await api.stop();
  });

  it('can be built by a testing module of AppModule alone, if the configuration is overridden', async () => {
    const module = await Test.createTestingModule({ imports: [AppModule] })
      .overrideProvider(Config)
      .useValue(config())
      .compile();
    const app = module.createNestApplication<NestFastifyApplication>(
      createFastifyAdapter(config()),
      appOptions(config()),
    );
    const api = apiOf(await initApp(app));

    expect(await api.get('/health/ready')).toHaveStatus(200);
    await api.stop();
  });

  it('says what is missing, if a testing module has no configuration', async () => {
    await expect(Test.createTestingModule({ imports: [AppModule] }).compile()).rejects.toThrow(
      'AppModule has no configuration. Import AppModule.with(config), or override the provider Config',
    );
  });

  it('accepts plugins, hooks and middleware before its initialization', async () => {
    const app = await createApp(config(), {
      modules: [PluggedModule],
      configure: async (created) => {
        created.use((_request: unknown, response: { setHeader: Function }, next: () => void) => {
          response.setHeader('x-middleware', 'yes');
          next();
        });
        await created.register(async (fastify: FastifyInstance) => {
          fastify.get('/plugin', async () => ({ from: 'plugin' }));
        });
        created
          .getHttpAdapter()
          .getInstance()
          .addHook('onSend', async (_request, reply) => {
            reply.header('x-hook', 'yes');
          });
      },
    });
    const api = apiOf(app);

    expect((await api.get('/v1/plugged')).headers).toMatchObject({ 'x-middleware': 'yes', 'x-hook': 'yes' });
    expect((await api.get('/plugin')).body).toEqual({ from: 'plugin' });
    // Errors of hooks, too, although Fastify has loaded the plugin before Nest set its error handler.
    for (const url of ['/v1/plugged', '/plugin']) {
      const headers = { 'content-encoding': 'gzip' };
      const reply = await api.send({ method: 'GET', url, headers, payload: 'x' });
      expect(reply).toBeError('UNSUPPORTED_MEDIA_TYPE');
    }
    await api.stop();
  });

  it('serves server-sent events, and requires an account by default', async () => {
    const api = apiOf(await createApp(config(), { modules: [TicksModule] }));
    await api.accounts.register('sse@example.com');
    const { access } = await api.accounts.login('sse@example.com');

    const open = await api.get('/v1/ticks/public');
    expect(open.headers['content-type']).toContain('text/event-stream');
    expect(open.text.match(/data: .*/g)).toEqual(['data: {"n":0}', 'data: {"n":1}']);
    expect(await api.get('/v1/ticks/private')).toBeError('UNAUTHENTICATED');
    expect((await api.get('/v1/ticks/private', bearer(access))).text).toContain('"accounts":1');
    await api.stop();
  });

  it('serves a WebSocket gateway, whose handlers are closed unless they are public', async () => {
    const warn = jest.spyOn(Logger.prototype, 'warn').mockReturnValue(undefined);
    const app = await createApp(config(), {
      modules: [RoomsModule],
      configure: (created) => void created.useWebSocketAdapter(new WsAdapter(created)),
    });
    await app.listen(0, '127.0.0.1');
    const api = apiOf(app);
    await api.accounts.register('ws@example.com');
    const { access } = await api.accounts.login('ws@example.com');
    const session = await api.accounts.session('ws@example.com');
    const url = `${(await app.getUrl()).replace('http', 'ws')}/rooms`;
    const send = async (headers: Record<string, string>, event: string) => {
      const client = new WebSocket(url, { headers });
      await once(client, 'open');
      client.send(JSON.stringify({ event, data: 'hello' }));
      const [message] = await once(client, 'message');
      client.close();
      return JSON.parse(String(message));
    };

    expect(await send({}, 'echo')).toEqual({ event: 'echo', data: 'hello' });
    // With any setting of WRITE_ACCESS: nobody has checked who has opened the connection.
    for (const headers of [{}, bearer(access), session.cookie])
      for (const event of ['whoami', 'optional', 'write'])
        expect(await send(headers, event)).toMatchObject({ event: 'exception' });
    expect(warn).toHaveBeenCalledWith(expect.stringMatching(/^RoomsGateway\.whoAmI .* make it @Public\(\)/));
    await api.stop();
  });

  it('works without HTTP as an application context, like the REPL', async () => {
    const context = await NestFactory.createApplicationContext(AppModule.with(config(), [FixtureModule]), {
      logger: false,
      abortOnError: false,
    });
    const { text } = await context.get(DummiesService, { strict: false }).create({ text: 'Created' });
    expect(text).toBe('Created');
    expect(await context.get(AccountsService, { strict: false }).find(1)).toBeDefined();
    await context.close();
  });
});
