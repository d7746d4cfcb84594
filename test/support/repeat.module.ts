import { AsyncLocalStorage } from 'node:async_hooks';
import { randomUUID } from 'node:crypto';
import {
  Body,
  type CallHandler,
  Controller,
  type ExecutionContext,
  Get,
  HttpCode,
  Module,
  type NestInterceptor,
  Param,
  Post,
  Req,
  Res,
  StreamableFile,
  UseInterceptors,
} from '@nestjs/common';
import { RouteConfig } from '@nestjs/platform-fastify';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { from, type Observable, race, tap } from 'rxjs';
import { Public } from '../../src/platform/access/index.js';
import { WriteAccess } from '../../src/platform/access/index.js';
import { AppError } from '../../src/platform/http/errors/errors.js';
import { Transactions } from '../../src/platform/database/transactions.js';
import { Idempotent } from '../../src/platform/idempotency/idempotent.js';
import { FixtureModule } from './fixture.module.js';

/** Runs work like another request: outside of the unit of work of the caller. */
const elsewhere = AsyncLocalStorage.snapshot() as <T>(work: () => T) => T;

/** A request that has written, and waits until the test releases it. */
export class Held {
  static current = new Held();
  readonly written = Promise.withResolvers<void>();
  readonly released = Promise.withResolvers<void>();
}

/** Fails as soon as the handler has written, as a timeout does. */
class GiveUpInterceptor implements NestInterceptor {
  intercept(_context: ExecutionContext, next: CallHandler): Observable<unknown> {
    const giveUp = Held.current.written.promise.then(() => {
      throw new AppError('SERVICE_UNAVAILABLE', 'Gave up');
    });
    return race(next.handle(), from(giveUp));
  }
}

/** Keeps what an outer interceptor gets of each response. */
export class OuterInterceptor implements NestInterceptor {
  static values: unknown[] = [];

  intercept(_context: ExecutionContext, next: CallHandler): Observable<unknown> {
    return next.handle().pipe(tap((value) => OuterInterceptor.values.push(value)));
  }
}

/** Idempotent handlers as in a feature module. */
@Controller({ path: 'repeats', version: '1' })
@Public()
class RepeatController {
  private conflicts = 0;

  constructor(private readonly transactions: Transactions) {}

  /** Writes twice concurrently, and then a third time. */
  @Post('three-writes')
  @Idempotent()
  @UseInterceptors(OuterInterceptor)
  async threeWrites(): Promise<{ ids: number[] }> {
    const both = await Promise.all([this.write(), this.transactions.run(() => this.write())]);
    return { ids: [...both, await this.write()] };
  }

  /** Writes, and then fails as the request specifies. */
  @Post('failing/:how')
  @Idempotent()
  async failing(@Param('how') how: string, @Body() body: { fail?: boolean }): Promise<{ id: number }> {
    const id = await this.write();
    if (body.fail && how === 'refused') throw new AppError('CONFLICT', 'Refused after a write');
    if (body.fail) throw new Error('A fault after a write');
    return { id };
  }

  /** Sets the status, headers and a large body. */
  @Post('decorated')
  @Idempotent()
  decorated(
    @Body() { size }: { size: number },
    @Res({ passthrough: true }) reply: FastifyReply,
  ): { text: string; at: number } {
    reply.status(202).headers({ vary: 'Accept', 'x-list': ['a', 'b'], location: '/somewhere' });
    return { text: 'é'.repeat(size), at: performance.now() };
  }

  @Post('text')
  @Idempotent()
  text(@Res({ passthrough: true }) reply: FastifyReply): string {
    reply.type('application/xml');
    return `<at>${performance.now()}\0</at>`;
  }

  /** Writes, and responds with an error that it does not throw. */
  @Post('answering')
  @Idempotent()
  async answering(@Res({ passthrough: true }) reply: FastifyReply): Promise<{ id: number }> {
    reply.status(400);
    return { id: await this.write() };
  }

  /** Responds with what cannot be stored. */
  @Post('streaming')
  @Idempotent()
  async streaming(): Promise<StreamableFile> {
    await this.write();
    return new StreamableFile(Buffer.from('x'));
  }

  /** Sets a header, and then makes the idempotency record fail. */
  @Post('unrecorded')
  @Idempotent()
  async unrecorded(@Res({ passthrough: true }) reply: FastifyReply): Promise<object> {
    reply.header('location', '/nowhere');
    await elsewhere(() =>
      this.transactions.execute('ALTER TABLE idempotency_records RENAME COLUMN status TO gone'),
    );
    return {};
  }

  /** Collides with another transaction the first time, after setting parts of the response. */
  @Post('colliding')
  @Idempotent()
  async colliding(@Res({ passthrough: true }) reply: FastifyReply): Promise<object> {
    this.conflicts++;
    if (this.conflicts === 1) reply.status(202).header('x-only-the', 'first').header('x-list', 'b');
    reply.header('location', '/somewhere').type('application/json');
    const id = await this.write();
    if (this.conflicts === 1) throw Object.assign(new Error('Collided'), { code: '40001' });
    return { id };
  }

  @Post('held')
  @Idempotent()
  async held(): Promise<{ id: number }> {
    const id = await this.write();
    Held.current.written.resolve();
    await Held.current.released.promise;
    return { id };
  }

  /** Writes, and goes on while an outer interceptor has given up. */
  @Post('abandoned')
  @Idempotent()
  @UseInterceptors(GiveUpInterceptor)
  abandoned(): Promise<{ id: number }> {
    return this.held();
  }

  /** Writes, and then responds without Fastify. */
  @Post('hijacked')
  @Idempotent()
  async hijacked(@Res() reply: FastifyReply): Promise<void> {
    await this.write();
    reply.hijack();
    reply.raw.end('mine');
  }

  @Post('nothing')
  @Idempotent()
  @HttpCode(204)
  async nothing(): Promise<void> {
    await this.write();
  }

  /** Has settings of its own. A GET with effects is idempotent, too. */
  @Get('configured')
  @Idempotent()
  @RouteConfig({ own: 'setting' })
  async configured(@Req() request: FastifyRequest): Promise<object> {
    const { own } = request.routeOptions.config as { own?: string };
    return { id: await this.write(), own };
  }

  private async write(): Promise<number> {
    const [row] = await this.transactions.execute<{ id: number }>(
      `INSERT INTO stubs (status, text, created_at) VALUES ('created', '{}', :now) RETURNING id`,
      { now: new Date().toISOString() },
    );
    return row!.id;
  }
}

@Controller({ path: 'repeats/governed', version: '1' })
@WriteAccess()
class GovernedRepeatController {
  @Post(':id')
  @Idempotent({ required: true })
  write(@Param('id') id: string): { id: string; at: number } {
    return { id, at: performance.now() };
  }
}

/** Sets a cookie before the handler, and a header after it, which differ for each request. */
class MarkInterceptor implements NestInterceptor {
  intercept(context: ExecutionContext, next: CallHandler): Observable<unknown> {
    const reply = context.switchToHttp().getResponse<FastifyReply>();
    const mark = randomUUID();
    reply.header('set-cookie', `visit=${mark}`);
    return next.handle().pipe(tap(() => void reply.header(`x-mark-${mark}`, 'after')));
  }
}

@Controller({ path: 'repeats/marked', version: '1' })
@Public()
@UseInterceptors(MarkInterceptor)
class MarkedRepeatController {
  @Post()
  @Idempotent()
  mark(@Res({ passthrough: true }) reply: FastifyReply): object {
    reply.header('set-cookie', 'own=1');
    return {};
  }
}

@Module({
  imports: [FixtureModule],
  controllers: [RepeatController, GovernedRepeatController, MarkedRepeatController],
})
export class RepeatModule {}

@Controller('misconfigured')
@Public()
class MisconfiguredController {
  @Get()
  @RouteConfig({ own: 'setting' })
  @Idempotent()
  read(): object {
    return {};
  }
}

@Module({ controllers: [MisconfiguredController] })
export class MisconfiguredModule {}
