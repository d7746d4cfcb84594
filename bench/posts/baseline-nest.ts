import 'reflect-metadata';
import {
  Body,
  Controller,
  Get,
  HttpException,
  Module,
  Param,
  Patch,
  Post,
  Query,
  Res,
  ValidationPipe,
} from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { FastifyAdapter } from '@nestjs/platform-fastify';
import { IsIn, IsNotEmpty, IsOptional, IsString, MaxLength } from 'class-validator';
import type { FastifyInstance, FastifyReply } from 'fastify';

type Row = Record<string, any>;

/** The work of the handlers, the same as in the hand-written server. */
export interface Handlers {
  readonly find: (id: string, reply: FastifyReply) => Promise<Row | undefined>;
  readonly create: (input: Row, reply: FastifyReply) => Promise<Row>;
  readonly list: (query: Record<string, string>, reply: FastifyReply) => Promise<Row>;
  readonly listByCursor: (query: Record<string, string>, reply: FastifyReply) => Promise<Row>;
  readonly update: (id: string, input: Row, reply: FastifyReply) => Promise<Row | undefined>;
}

class PostInput {
  declare title: string;
  declare content: string;
  declare status?: string;
}

class PostChanges extends PostInput {}

/**
 * Posts at `/nest`, by a Nest controller with its `ValidationPipe`, and without the rest of the service. The
 * difference to the service is the service's own cost; the rest of its difference to the hand-written server is Nest's.
 */
export async function serveNest(app: FastifyInstance, handlers: Handlers): Promise<void> {
  class Posts {
    list(query: Record<string, string>, reply: FastifyReply): Promise<Row> {
      return handlers.list(query, reply);
    }

    listByCursor(query: Record<string, string>, reply: FastifyReply): Promise<Row> {
      return handlers.listByCursor(query, reply);
    }

    async find(id: string, reply: FastifyReply): Promise<Row> {
      return found(await handlers.find(id, reply));
    }

    create(input: PostInput, reply: FastifyReply): Promise<Row> {
      return handlers.create(input, reply);
    }

    async update(id: string, input: PostChanges, reply: FastifyReply): Promise<Row> {
      return found(await handlers.update(id, input, reply));
    }
  }
  // oxlint-disable-next-line typescript/no-extraneous-class -- A module of Nest is an empty class.
  class App {}

  // Node.js strips types, but does not run decorators.
  const reply = Res({ passthrough: true });
  describe(Posts, 'list', Get(), [Object, Object], [Query(), reply]);
  describe(Posts, 'listByCursor', Get('cursor'), [Object, Object], [Query(), reply]);
  describe(Posts, 'find', Get(':id'), [String, Object], [Param('id'), reply]);
  describe(Posts, 'create', Post(), [PostInput, Object], [Body(), reply]);
  describe(Posts, 'update', Patch(':id'), [String, PostChanges, Object], [Param('id'), Body(), reply]);
  Controller('nest/v1/posts')(Posts);
  Module({ controllers: [Posts] })(App);
  for (const field of ['title', 'content', 'status']) {
    if (field === 'status') IsIn(['draft', 'published'])(PostInput.prototype, field);
    else for (const rule of [IsString(), IsNotEmpty()]) rule(PostInput.prototype, field);
    IsOptional()(field === 'status' ? PostInput.prototype : PostChanges.prototype, field);
  }
  MaxLength(200)(PostInput.prototype, 'title');

  const nest = await NestFactory.create(App, new FastifyAdapter(app as never), {
    logger: false,
    bodyParser: false,
  });
  nest.useGlobalPipes(new ValidationPipe({ whitelist: true, transform: true }));
  await nest.init();
}

function found(row: Row | undefined): Row {
  if (row === undefined) throw new HttpException('Post not found', 404);
  return row;
}

function describe(
  type: { prototype: object },
  name: string,
  route: MethodDecorator,
  types: readonly unknown[],
  parameters: readonly ParameterDecorator[],
): void {
  const { prototype } = type;
  Reflect.defineMetadata('design:paramtypes', types, prototype, name);
  for (const [n, parameter] of parameters.entries()) parameter(prototype, name, n);
  route(prototype, name, Object.getOwnPropertyDescriptor(prototype, name)!);
}
