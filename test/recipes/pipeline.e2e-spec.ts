import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import {
  type ArgumentsHost,
  BadGatewayException,
  BadRequestException,
  type CallHandler,
  type CanActivate,
  Catch,
  ClassSerializerInterceptor,
  Controller,
  type ExceptionFilter,
  type ExecutionContext,
  ForbiddenException,
  Get,
  GoneException,
  Header,
  HttpCode,
  HttpException,
  HttpStatus,
  ImATeapotException,
  Injectable,
  Logger,
  type MiddlewareConsumer,
  Module,
  type NestInterceptor,
  type NestMiddleware,
  type NestModule,
  Post,
  Redirect,
  RequestTimeoutException,
  Res,
  StreamableFile,
  UnauthorizedException,
  UseFilters,
  UseGuards,
  UseInterceptors,
} from '@nestjs/common';
import { APP_INTERCEPTOR, Reflector } from '@nestjs/core';
import { Exclude, Expose } from 'class-transformer';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { catchError, map, type Observable, of, tap, throwError, timeout, TimeoutError } from 'rxjs';
import { Public } from '../../src/platform/access/index.js';
import { Idempotent } from '../../src/platform/idempotency/idempotent.js';
import { startApi, type TestApi } from '../support/api.js';
import { FixtureModule } from '../support/fixture.module.js';
import { onEach } from '../support/on-each.js';
import { STORES } from '../support/stores.js';

const seen: string[] = [];

@Injectable()
class LoggingInterceptor implements NestInterceptor {
  intercept(context: ExecutionContext, next: CallHandler): Observable<unknown> {
    seen.push(`before ${context.getHandler().name}`);
    return next.handle().pipe(tap(() => seen.push(`after ${context.getHandler().name}`)));
  }
}

@Injectable()
class TransformInterceptor implements NestInterceptor {
  intercept(_context: ExecutionContext, next: CallHandler): Observable<unknown> {
    return next.handle().pipe(map((data: unknown) => ({ wrapped: data })));
  }
}

@Injectable()
class CacheInterceptor implements NestInterceptor {
  intercept(): Observable<unknown> {
    return of({ cached: true });
  }
}

@Injectable()
class TimeoutInterceptor implements NestInterceptor {
  intercept(_context: ExecutionContext, next: CallHandler): Observable<unknown> {
    return next.handle().pipe(
      timeout(20),
      catchError((error) =>
        throwError(() => (error instanceof TimeoutError ? new RequestTimeoutException() : error)),
      ),
    );
  }
}

@Injectable()
class HeaderGuard implements CanActivate {
  canActivate(context: ExecutionContext): boolean {
    const { headers } = context.switchToHttp().getRequest<FastifyRequest>();
    if (headers['x-blocked']) throw new ForbiddenException('Blocked');
    return headers['x-let-me-in'] === 'yes';
  }
}

class OutOfStock extends Error {}

@Catch(OutOfStock)
class OutOfStockFilter implements ExceptionFilter<OutOfStock> {
  catch(_: OutOfStock, host: ArgumentsHost): void {
    host.switchToHttp().getResponse<FastifyReply>().status(409).send({ sold: 'out' });
  }
}

class UserEntity {
  id = 1;

  @Exclude()
  password = 'secret';

  @Expose()
  get label(): string {
    return `#${this.id}`;
  }
}

@Controller({ path: 'pipeline', version: '1' })
@Public()
class PipelineController {
  private readonly logger = new Logger('Pipeline');
  private count = 0;

  @Get('transformed')
  @UseInterceptors(TransformInterceptor)
  transformed(): object {
    return { a: 1 };
  }

  @Get('cached')
  @UseInterceptors(CacheInterceptor)
  cached(): object {
    throw new Error('never called');
  }

  @Get('slow')
  @UseInterceptors(TimeoutInterceptor)
  slow(): Promise<never> {
    return new Promise(() => undefined);
  }

  @Get('guarded')
  @UseGuards(HeaderGuard)
  guarded(): object {
    return { ok: true };
  }

  @Get('filtered')
  @UseFilters(OutOfStockFilter)
  filtered(): never {
    throw new OutOfStock();
  }

  @Get('entity')
  @UseInterceptors(ClassSerializerInterceptor)
  entity(): UserEntity {
    return new UserEntity();
  }

  @Get('redirected')
  @Redirect('/v1/dummies', 301)
  redirected(): void {}

  @Get('file')
  @Header('content-type', 'text/csv')
  file(): StreamableFile {
    return new StreamableFile(Buffer.from('a,b\n'));
  }

  @Get('own-response')
  ownResponse(@Res() reply: FastifyReply): void {
    reply.status(HttpStatus.ACCEPTED).send({ own: true });
  }

  @Get('observable')
  @HttpCode(203)
  observable(): Observable<object> {
    return of({ from: 'rxjs' });
  }

  @Get('logged')
  logged(): object {
    this.logger.log('from the handler');
    return {};
  }

  /** Has two more interceptors, and a rest parameter. */
  @Post('idempotent')
  @UseInterceptors(TransformInterceptor, ClassSerializerInterceptor)
  @Idempotent()
  idempotent(@Res({ passthrough: true }) reply: FastifyReply, ...rest: unknown[]): object {
    reply.header('x-count', String(++this.count));
    return Object.assign(new UserEntity(), { count: this.count, rest });
  }
}

const EXCEPTIONS: Record<string, () => Error> = {
  400: () => new BadRequestException(['a is wrong', 'b is wrong']),
  401: () => new UnauthorizedException('Who are you?'),
  410: () => new GoneException('It was here'),
  418: () => new ImATeapotException('Short and stout'),
  429: () => new HttpException('Slow down', 429),
  451: () => new HttpException({ message: 'Not in your country', more: 1 }, 451),
  502: () => new BadGatewayException('secret upstream'),
  upstream: () => Object.assign(new Error('secret upstream'), { statusCode: 404 }),
};

@Controller({ path: 'exceptions', version: '1' })
@Public()
class ExceptionsController {
  @Get('retry')
  retry(@Res({ passthrough: true }) reply: FastifyReply): never {
    reply.header('retry-after', '7');
    throw new HttpException('Slow down', 429);
  }

  @Get(':name')
  fail(@Res({ passthrough: true }) reply: FastifyReply): never {
    throw EXCEPTIONS[(reply.request.params as { name: string }).name]!();
  }
}

@Injectable()
class ClassMiddleware implements NestMiddleware {
  use(
    request: FastifyRequest['raw'] & { originalUrl: string },
    response: FastifyReply['raw'],
    next: () => void,
  ): void {
    response.setHeader('x-class-middleware', request.originalUrl);
    next();
  }
}

function functionalMiddleware(_request: unknown, response: FastifyReply['raw'], next: () => void): void {
  response.setHeader('x-functional-middleware', 'yes');
  next();
}

@Module({ controllers: [PipelineController, ExceptionsController] })
class PipelineModule {}

@Module({})
class MiddlewareModule implements NestModule {
  configure(consumer: MiddlewareConsumer): void {
    consumer.apply(ClassMiddleware).exclude('v1/pipeline/cached').forRoutes('v1/pipeline/*path');
    consumer.apply(functionalMiddleware).forRoutes(PipelineController);
  }
}

@Module({
  providers: [
    { provide: APP_INTERCEPTOR, useClass: LoggingInterceptor },
    {
      provide: APP_INTERCEPTOR,
      inject: [Reflector],
      useFactory: (reflector: Reflector) => new ClassSerializerInterceptor(reflector),
    },
  ],
})
class GlobalInterceptorsModule {}

onEach('the request pipeline as in the Nest documentation', { modules: [PipelineModule] }, ({ api }) => {
  it('supports interceptors that map, replace and interrupt', async () => {
    expect((await api.get('/v1/pipeline/transformed')).body).toEqual({ wrapped: { a: 1 } });
    expect((await api.get('/v1/pipeline/cached')).body).toEqual({ cached: true });
    expect((await api.get('/v1/pipeline/slow')).status).toBe(408);
    expect((await api.get('/v1/pipeline/entity')).body).toEqual({ id: 1, label: '#1' });
  });

  it('supports guards and filters of a handler', async () => {
    expect(await api.get('/v1/pipeline/guarded', { 'x-let-me-in': 'yes' })).toHaveStatus(200);
    expect(await api.get('/v1/pipeline/guarded')).toBeError('FORBIDDEN');
    expect(await api.get('/v1/pipeline/guarded', { 'x-blocked': '1' })).toBeError('FORBIDDEN');
    const filtered = await api.get('/v1/pipeline/filtered');
    expect(filtered).toHaveStatus(409);
    expect(filtered.body).toEqual({ sold: 'out' });
  });

  it('supports redirects, files, own responses and observables', async () => {
    expect((await api.get('/v1/pipeline/redirected')).headers['location']).toBe('/v1/dummies');
    const file = await api.get('/v1/pipeline/file');
    expect([file.text, file.headers['content-type']]).toEqual(['a,b\n', 'text/csv']);
    const own = await api.get('/v1/pipeline/own-response');
    expect([own.status, own.body]).toEqual([202, { own: true }]);
    expect((await api.get('/v1/pipeline/observable')).body).toEqual({ from: 'rxjs' });
  });

  it.each([
    ['400', 400, 'MALFORMED_REQUEST', 'a is wrong; b is wrong'],
    ['401', 401, 'UNAUTHENTICATED', 'Who are you?'],
    ['410', 410, 'MALFORMED_REQUEST', 'It was here'],
    ['418', 418, 'MALFORMED_REQUEST', 'Short and stout'],
    ['429', 429, 'RATE_LIMITED', 'Slow down'],
    ['451', 451, 'MALFORMED_REQUEST', 'Not in your country'],
    ['502', 502, 'INTERNAL_ERROR', 'Internal error; report the request id to the operators of the service'],
    [
      'upstream',
      500,
      'INTERNAL_ERROR',
      'Internal error; report the request id to the operators of the service',
    ],
  ])('keeps the status and the text of an exception: %s', async (name, status, code, message) => {
    const { status: actual, body } = await api.get(`/v1/exceptions/${name}`);

    expect(actual).toBe(status);
    expect(body).toEqual({ error: { code, message } });
  });

  it('keeps an explicit Retry-After, and adds a missing one', async () => {
    expect((await api.get('/v1/exceptions/retry')).headers['retry-after']).toBe('7');
    expect((await api.get('/v1/exceptions/429')).headers['retry-after']).toBe('60');
  });

  it('replays the value that the interceptors around an idempotent handler returned', async () => {
    const send = () => api.post('/v1/pipeline/idempotent', {}, { 'idempotency-key': 'around' });
    const [first, second] = [await send(), await send()];

    expect(first.body).toEqual({ wrapped: { id: 1, label: '#1', count: 1, rest: [] } });
    expect(second.headers['idempotent-replayed']).toBe('true');
    expect(second.headers['x-count']).toBe('1');
    expect(second.text).toBe(first.text);
  });
});

describe.each(STORES)('global interceptors and middleware on %s', (store) => {
  let plain: TestApi;
  let extended: TestApi;
  beforeAll(async () => {
    plain = await startApi(store, {}, [PipelineModule, FixtureModule]);
    extended = await startApi(store, {}, [
      PipelineModule,
      FixtureModule,
      MiddlewareModule,
      GlobalInterceptorsModule,
    ]);
  });
  afterAll(async () => {
    await plain.stop();
    await extended.stop();
  });

  it('keep every response unchanged, including headers', async () => {
    const requests = async (api: TestApi) => {
      const body = '{"item":"Book","price":9.90,"n":12345678901234567890}';
      const json = { 'content-type': 'application/json' };
      const sent = [
        await api.post('/v1/dummies', { text: 'A' }),
        await api.post('/v1/dummies', { text: 'B' }, { 'idempotency-key': 'one' }),
        await api.post('/v1/dummies', { text: 'B' }, { 'idempotency-key': 'one' }),
        await api.post('/v1/dummies', { text: '' }),
        await api.graphql('mutation { createDummy(input: { text: "C" }) { id } }'),
        await api.post('/v1/stubs', body, { ...json, 'idempotency-key': 'one' }),
        await api.post('/v1/stubs', body, { ...json, 'idempotency-key': 'one' }),
        await api.get('/v1/dummies?limit=1&page=2'),
        await api.get('/v1/dummies?page=9223372036854775807'),
        await api.get('/v1/dummies?cursor=&limit=1'),
        await api.get('/v1/dummies/1'),
        await api.get('/v1/dummies/1', { 'if-none-match': '*' }),
        await api.graphql('{ dummy(id: 1) { id } }'),
        await api.get('/v1/dummies?status=open'),
        await api.get('/', { accept: 'text/html' }),
        await api.get('/v1/stubs'),
        await api.get('/v1/stubs/1'),
        await api.patch('/v1/dummies/1', { text: 'C' }),
        await api.put('/v1/dummies/1', { text: 'D' }),
        await api.delete('/v1/dummies/1'),
        await api.get('/v1/dummies/1'),
        await api.get('/health'),
      ];
      const times = /\d{4}-\d\d-\d\dT[\d:.]+Z/g;
      return sent.map(({ status, headers, text }) => {
        const { 'x-request-id': _, date: _date, etag, ...others } = headers;
        // The tag contains the time of the row.
        const tag = etag?.replace(/-[^."]+/, '');
        return { status, headers: { ...others, tag }, text: text.replaceAll(times, 'then') };
      });
    };

    expect(await requests(extended)).toEqual(await requests(plain));
    expect(seen).toContain('after create');
  });

  it('apply only where the module configures them', async () => {
    const { headers } = await extended.get('/v1/pipeline/entity?x=1');
    expect(headers['x-class-middleware']).toContain('entity');
    expect(headers['x-functional-middleware']).toBe('yes');

    const excluded = await extended.get('/v1/pipeline/cached');
    expect(excluded.headers).not.toHaveProperty('x-class-middleware');
    expect((await extended.get('/v1/dummies')).headers).not.toHaveProperty('x-functional-middleware');
  });
});
