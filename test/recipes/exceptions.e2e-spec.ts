import { beforeAll, describe, expect, it, jest } from '@jest/globals';
import {
  type ArgumentsHost,
  BadRequestException,
  Body,
  Catch,
  ConflictException,
  Controller,
  type ExceptionFilter,
  Get,
  HttpException,
  Inject,
  Logger,
  Module,
  Param,
  Post,
  ServiceUnavailableException,
  UseFilters,
} from '@nestjs/common';
import { APP_FILTER } from '@nestjs/core';
import { Args, Mutation, Query, Resolver } from '@nestjs/graphql';
import { InjectRepository, TypeOrmModule } from '@nestjs/typeorm';
import { IsString } from 'class-validator';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { Column, DataSource, Entity, PrimaryColumn, type Repository } from 'typeorm';
import { Public, StaffOnly } from '../../src/platform/access/index.js';
import { Id } from '../../src/platform/http/validation/id.js';
import { startApi } from '../support/api.js';
import { FixtureModule } from '../support/fixture.module.js';
import { DummiesService } from '../support/fixture/dummies.service.js';
import { onEach } from '../support/on-each.js';
import { STORES } from '../support/stores.js';

/** As in the documentation of Nest. */
@Catch(HttpException)
class HttpExceptionFilter implements ExceptionFilter<HttpException> {
  catch(exception: HttpException, host: ArgumentsHost): void {
    const context = host.switchToHttp();
    const response = context.getResponse<FastifyReply>();
    const { url: path } = context.getRequest<FastifyRequest>();
    const statusCode = exception.getStatus();
    const { message } = exception;
    response.status(statusCode).send({ statusCode, path, message, response: exception.getResponse() });
  }
}

@Entity('leashes')
class Leash {
  @PrimaryColumn('text')
  name!: string;

  @Column('text', { unique: true })
  color!: string;
}

const FIELD = { field: 'name', message: 'name is taken' };

const EXCEPTIONS: Record<string, () => Error> = {
  text: () => new ConflictException('Taken'),
  details: () => new BadRequestException({ message: 'Wrong', details: [FIELD] }),
  texts: () => new BadRequestException({ message: ['a is wrong', 'b is wrong'] }),
  documented: () => new HttpException({ status: 403, error: 'This is a custom message' }, 403),
  more: () =>
    new BadRequestException({ message: 'Wrong', details: [FIELD, 'all'], reason: 'secret reason', help: {} }),
  unavailable: () => new ServiceUnavailableException({ message: 'secret', details: [FIELD], reason: 1 }),
};

@Controller({ path: 'leashes', version: '1' })
@Public()
class LeashesController {
  constructor(@InjectRepository(Leash) private readonly leashes: Repository<Leash>) {}

  @Get(':name')
  fail(@Param('name') name: string): never {
    throw EXCEPTIONS[name]!();
  }

  @Post()
  async create(@Body() { name, color }: Leash): Promise<object> {
    await this.leashes.insert({ name, color });
    return {};
  }
}

@Resolver()
class LeashesResolver {
  constructor(@InjectRepository(Leash) private readonly leashes: Repository<Leash>) {}

  @Query(() => Boolean)
  @Public()
  leash(@Args('name') name: string): never {
    throw EXCEPTIONS[name]!();
  }

  @Mutation(() => Boolean)
  @Public()
  async addLeash(@Args('name') name: string, @Args('color') color: string): Promise<boolean> {
    await this.leashes.insert({ name, color });
    return true;
  }
}

@Module({
  imports: [TypeOrmModule.forFeature([Leash])],
  controllers: [LeashesController],
  providers: [LeashesResolver],
})
class LeashesModule {}

class CreateDogDto {
  @IsString()
  name!: string;
}

class DogsController {
  @Inject(DummiesService)
  private readonly dummies!: DummiesService;

  @Get('own')
  own(): object {
    return {};
  }

  @Get('staff')
  @StaffOnly()
  staff(): object {
    return {};
  }

  @Get(':id')
  @Public()
  read(@Id() id: number): Promise<object> {
    return this.dummies.get(id);
  }

  @Post(':name')
  @Public()
  create(@Body() dog: CreateDogDto, @Param('name') _name: string): object {
    return dog;
  }
}

@Controller({ path: 'dogs', version: '1' })
@UseFilters(HttpExceptionFilter)
class FilteredDogsController extends DogsController {}

@Controller({ path: 'dogs', version: '1' })
class PlainDogsController extends DogsController {}

@Module({ imports: [FixtureModule], controllers: [FilteredDogsController] })
class FilterOfControllerModule {}

@Module({
  imports: [FixtureModule],
  controllers: [PlainDogsController],
  providers: [{ provide: APP_FILTER, useClass: HttpExceptionFilter }],
})
class GlobalFilterModule {}

describe.each(STORES)('exception filters as in the Nest documentation, on %s', (store) => {
  it.each([
    ['of a controller', FilterOfControllerModule],
    ['of the application', GlobalFilterModule],
  ])('see the errors of guard, pipe and services: %s', async (_, module) => {
    const api = await startApi(store, {}, [module]);
    const ada = await api.accounts.logInNew('ada@example.com');

    const seen = [
      await api.get('/v1/dogs/own'),
      await api.get('/v1/dogs/staff', ada),
      await api.get('/v1/dogs/999'),
      await api.get('/v1/dogs/x'),
      await api.post('/v1/dogs/rex', { name: 1 }),
    ];
    await api.stop();

    expect(seen.map(({ status, body }) => [status, body])).toEqual([
      [401, caught(401, '/v1/dogs/own', 'UNAUTHENTICATED', 'Authentication is required')],
      [403, caught(403, '/v1/dogs/staff', 'FORBIDDEN', 'A staff account is required')],
      [404, caught(404, '/v1/dogs/999', 'NOT_FOUND', 'Dummy not found')],
      [400, caught(400, '/v1/dogs/x', 'INVALID_ID', 'The id must be a 64-bit decimal integer')],
      [
        422,
        caught(422, '/v1/dogs/rex', 'VALIDATION_ERROR', 'name must be a string', [
          { field: 'name', message: 'name must be a string' },
        ]),
      ],
    ]);
  });
});

const caught = (statusCode: number, path: string, code: string, message: string, details?: object[]) => ({
  statusCode,
  path,
  message,
  response: { error: { code, message, ...(details && { details }) } },
});

onEach('exceptions as in the Nest documentation', { modules: [LeashesModule] }, ({ api }) => {
  beforeAll(() => api.app.get(DataSource).synchronize());

  it.each([
    ['text', 409, { code: 'CONFLICT', message: 'Taken' }],
    ['details', 400, { code: 'MALFORMED_REQUEST', message: 'Wrong', details: [FIELD] }],
    ['texts', 400, { code: 'MALFORMED_REQUEST', message: 'a is wrong; b is wrong' }],
    ['documented', 403, { code: 'FORBIDDEN', message: 'This is a custom message' }],
  ])('keep what a client can get, and log nothing: %s', async (name, status, error) => {
    const warned = jest.spyOn(Logger.prototype, 'warn');
    const reply = await api.get(`/v1/leashes/${name}`);

    expect([reply.status, reply.body]).toEqual([status, { error }]);
    expect(warned).not.toHaveBeenCalled();
  });

  it('say once in the log what a client does not get, over REST and GraphQL', async () => {
    const warned = jest.spyOn(Logger.prototype, 'warn').mockReturnValue(undefined);
    const { status, body } = await api.getOnly('/v1/leashes/more');
    expect([status, body]).toEqual([
      400,
      { error: { code: 'MALFORMED_REQUEST', message: 'Wrong', details: [FIELD] } },
    ]);
    const { errors } = (await api.graphql('{ leash(name: "more") }')).body;
    expect(errors[0]).toMatchObject({ message: 'Wrong', extensions: { details: [FIELD] } });

    const lines = warned.mock.calls.map(([line]) => line as { msg: string; requestId: string });
    expect(lines.map(({ msg }) => msg)).toEqual([
      expect.stringContaining('does not get details, reason, help of the exception "Wrong"'),
      expect.stringContaining('does not get details, reason, help of the exception "Wrong"'),
    ]);
    expect(new Set(lines.map(({ requestId }) => requestId)).size).toBe(2);
    expect(JSON.stringify(lines)).not.toContain('secret');
  });

  it('are masked if they are faults of the service', async () => {
    const reply = await api.get('/v1/leashes/unavailable');

    expect(reply).toBeError('SERVICE_UNAVAILABLE');
    expect(reply.text).not.toMatch(/secret|taken/);
  });

  it.each([
    ['a unique column', { name: 'short', color: 'red' }],
    ['a primary key', { name: 'long', color: 'blue' }],
  ])('are a conflict for a duplicate that nobody translates: %s', async (_, second) => {
    const repository = api.app.get(DataSource).getRepository(Leash);
    await repository.clear();
    expect(await api.post('/v1/leashes', { name: 'long', color: 'red' })).toHaveStatus(201);

    const reply = await api.post('/v1/leashes', second);
    expect(reply).toBeError('CONFLICT');
    expect(reply.text).not.toMatch(/leashes|unique|short|blue/i);
    const mutation = `mutation { addLeash(name: "${second.name}", color: "${second.color}") }`;
    expect((await api.graphql(mutation)).body.errors[0].extensions.code).toBe('CONFLICT');
    expect(await repository.find()).toEqual([{ name: 'long', color: 'red' }]);
  });
});
