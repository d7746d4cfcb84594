import { describe, expect, it } from '@jest/globals';
import {
  type ArgumentsHost,
  Body,
  Catch,
  Controller,
  type ExceptionFilter,
  Get,
  HttpException,
  Module,
  Param,
  Post,
  UseFilters,
} from '@nestjs/common';
import { APP_FILTER } from '@nestjs/core';
import { IsString } from 'class-validator';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { Public, StaffOnly } from '../../src/platform/access/index.js';
import { Id } from '../../src/platform/http/validation/id.js';
import { UsersService } from '../../src/users/users.service.js';
import { UsersModule } from '../../src/users/users.module.js';
import { bearer, startApi } from '../support/api.js';
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

class CreateDogDto {
  @IsString()
  name!: string;
}

class DogsController {
  constructor(private readonly users: UsersService) {}

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
    return this.users.findOne(id);
  }

  @Post(':name')
  @Public()
  create(@Body() dog: CreateDogDto, @Param('name') _name: string): object {
    return dog;
  }
}

@Controller({ path: 'dogs', version: '1' })
@UseFilters(HttpExceptionFilter)
class FilteredDogsController extends DogsController {
  constructor(users: UsersService) {
    super(users);
  }
}

@Controller({ path: 'dogs', version: '1' })
class PlainDogsController extends DogsController {
  constructor(users: UsersService) {
    super(users);
  }
}

@Module({ imports: [UsersModule], controllers: [FilteredDogsController] })
class FilterOfControllerModule {}

@Module({
  imports: [UsersModule],
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
    await api.accounts.register('ada@example.com');
    const ada = bearer((await api.accounts.login('ada@example.com')).access);

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
      [404, caught(404, '/v1/dogs/999', 'NOT_FOUND', 'User not found')],
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
