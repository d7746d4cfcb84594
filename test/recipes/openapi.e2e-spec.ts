import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Body, Controller, Delete, Get, HttpCode, Module, Param, Post, Query, Res } from '@nestjs/common';
import {
  ApiBearerAuth,
  ApiConflictResponse,
  ApiCreatedResponse,
  ApiDefaultResponse,
  ApiExcludeEndpoint,
  ApiExtraModels,
  ApiHeader,
  ApiNotFoundResponse,
  ApiOkResponse,
  ApiOperation,
  ApiParam,
  ApiProperty,
  ApiPropertyOptional,
  ApiQuery,
  ApiResponse,
  ApiSecurity,
  getSchemaPath,
} from '@nestjs/swagger';
import { Type } from 'class-transformer';
import { IsIn, IsInt, IsOptional, IsString, Min } from 'class-validator';
import type { FastifyReply } from 'fastify';
import { describeApi, REFERENCE_PARTS } from '../../src/openapi.js';
import { Public } from '../../src/platform/access/index.js';
import { ReturnsData, Throws } from '../../src/platform/http/openapi/returns.js';
import { created } from '../../src/platform/http/responses/created.js';
import { buildDocument } from '../../src/platform/reference/build-document.js';
import { startApi, type TestApi } from '../support/api.js';
import { ANY_STORE } from '../support/stores.js';

class Cat {
  @ApiProperty()
  name!: string;
}

class Kitten extends Cat {}

class CreateCatDto {
  @ApiProperty()
  @IsString()
  name!: string;
}

class SearchCatsQuery {
  @IsOptional()
  @Type(() => Number)
  @IsInt()
  @Min(0)
  @ApiPropertyOptional({ type: 'integer', minimum: 0 })
  age?: number;

  @IsIn(['red', 'black'])
  @ApiProperty({ enum: ['red', 'black'] })
  color!: string;
}

class NotFoundBody {
  @ApiProperty()
  reason!: string;
}

@Controller({ path: 'cats', version: '1' })
@ApiResponse({ status: 503, description: 'The cats sleep' })
@ApiExtraModels(Kitten)
class CatsController {
  @Get()
  @Public()
  @ApiOperation({ summary: 'Lists the cats' })
  @ApiOkResponse({ type: Cat, isArray: true, description: 'All cats' })
  @ApiQuery({ name: 'color', required: false, enum: ['red', 'black'] })
  @ApiHeader({ name: 'X-Purr', description: 'How loud' })
  list(@Query('color') _color?: string): Cat[] {
    return [];
  }

  @Get('search/all')
  @Public()
  @ApiOperation({ summary: 'Searches for cats' })
  @ApiOkResponse({ type: Cat, isArray: true })
  search(@Query() query: SearchCatsQuery): object {
    return { query, isInstance: query instanceof SearchCatsQuery };
  }

  @Post()
  @ApiOperation({ summary: 'Adopts a cat' })
  @ApiCreatedResponse({ type: Cat, headers: { 'X-Cat': { description: 'A header' } } })
  @ApiBearerAuth('bearer')
  @ApiSecurity('collar', ['read'])
  create(@Body() cat: CreateCatDto): Cat {
    return cat;
  }

  @Get(':name')
  @Public()
  @ApiOperation({ summary: 'Returns a cat' })
  @ApiParam({ name: 'name', description: 'As it is called', example: 'Tom' })
  @ApiOkResponse({ schema: { oneOf: [{ $ref: getSchemaPath(Cat) }, { $ref: getSchemaPath(Kitten) }] } })
  @ApiNotFoundResponse({ description: 'There is no such cat' })
  @ApiConflictResponse({ type: NotFoundBody, description: 'There are two' })
  @ApiDefaultResponse({ description: 'Anything else' })
  read(@Param('name') name: string): Cat {
    return { name };
  }

  @Delete()
  @Public()
  @HttpCode(202)
  @ApiOperation({ summary: 'Lets all cats out' })
  @ApiResponse({ status: 202, description: 'They will leave' })
  release(): void {}

  @Post('treats')
  @Public()
  @ApiOperation({ summary: 'Gives a cat a treat' })
  @ReturnsData(Cat)
  @Throws({ CONFLICT: 'No cat is left' })
  @ApiCreatedResponse({ description: 'The cat was ordered' })
  @ApiConflictResponse({ description: 'All cats are sold' })
  order(@Res({ passthrough: true }) reply: FastifyReply): object {
    return created(reply, '/v1/cats', { id: 1 });
  }

  @Get('secret/way')
  @ApiExcludeEndpoint()
  secret(): void {}
}

@Module({ controllers: [CatsController] })
class CatsModule {}

const ref = (name: string) => ({ $ref: `#/components/schemas/${name}` });
const json = (schema: object) => ({ 'application/json': { schema } });
const REQUEST_ID = { 'X-Request-ID': { $ref: '#/components/headers/X-Request-ID' } };

describe('the decorators of OpenAPI in the Nest documentation', () => {
  let api: TestApi;
  let document: any;
  beforeAll(async () => {
    api = await startApi(ANY_STORE, {}, [CatsModule]);
    const base = describeApi().addApiKey({ type: 'apiKey', in: 'header', name: 'X-Collar' }, 'collar');
    document = JSON.parse(JSON.stringify(await buildDocument(api.app, base, REFERENCE_PARTS)));
  });
  afterAll(() => api.stop());

  it('say what a success is, and claim no header that is not sent', async () => {
    const { get, post, delete: release } = document.paths['/v1/cats'];

    expect(get.responses[200]).toEqual({
      description: 'All cats',
      content: json({ type: 'array', items: ref('Cat') }),
      headers: REQUEST_ID,
    });
    expect(post.responses[201]).toEqual({
      description: 'Success',
      content: json(ref('Cat')),
      headers: { ...REQUEST_ID, 'X-Cat': { description: 'A header' } },
    });
    expect(release.responses[202]).toEqual({ description: 'They will leave', headers: REQUEST_ID });
    expect(Object.keys(release.responses).filter((status) => status < '400')).toEqual(['202']);
  });

  it('say what an error is, of the handler and of the controller, and keep the other errors', () => {
    const { responses } = document.paths['/v1/cats/{name}'].get;

    expect(responses[404]).toEqual({
      description: 'There is no such cat',
      content: json(ref('ErrorResponse')),
      headers: REQUEST_ID,
    });
    expect(responses[409]).toMatchObject({
      description: 'There are two',
      content: json(ref('NotFoundBody')),
    });
    expect(responses[503].description).toBe('The cats sleep');
    expect(responses[503].content['application/json'].examples).toHaveProperty('SERVICE_UNAVAILABLE');
    expect(responses.default).toMatchObject({ description: 'Anything else' });
    expect(responses[429].description).toBe('`RATE_LIMITED`');
    expect(responses[200].content).toEqual(json({ oneOf: [ref('Cat'), ref('Kitten')] }));
  });

  it('say which parameters, models and credentials there are', () => {
    const { get, post } = document.paths['/v1/cats'];

    expect(get.parameters).toEqual([
      expect.objectContaining({ name: 'color', in: 'query', required: false }),
      expect.objectContaining({ name: 'X-Purr', in: 'header', description: 'How loud' }),
    ]);
    expect(document.paths['/v1/cats/{name}'].get.parameters).toEqual([
      expect.objectContaining({ description: 'As it is called', schema: { type: 'string', example: 'Tom' } }),
    ]);
    expect(document.components.schemas).toHaveProperty('Kitten');
    expect(post.security).toEqual([{ bearer: [] }, { session: [], csrf: [] }, { collar: ['read'] }]);
    expect(get.security).toEqual([]);
    expect(document.components.securitySchemes.collar).toMatchObject({ name: 'X-Collar' });
    expect(document.paths).not.toHaveProperty('/v1/cats/secret/way');
  });

  it('describe a class of the query, with the error of wrong values', async () => {
    const { parameters, responses } = document.paths['/v1/cats/search/all'].get;

    expect(parameters).toEqual([
      { name: 'age', in: 'query', required: false, schema: { type: 'integer', minimum: 0 }, example: 1 },
      {
        name: 'color',
        in: 'query',
        required: true,
        schema: { type: 'string', enum: ['red', 'black'] },
        example: 'red',
      },
    ]);
    const { status, body } = await api.get('/v1/cats/search/all?age=?&color=?');
    expect(status).toBe(422);
    expect(body.error.details.map(({ field }: { field: string }) => field)).toEqual(['age', 'color']);
    expect(responses[422].content['application/json'].examples).toEqual({
      VALIDATION_ERROR: { value: body },
    });
    expect((await api.get('/v1/cats/search/all?age=3&color=red&more=1')).body).toEqual({
      query: { age: 3, color: 'red' },
      isInstance: true,
    });
  });

  it('complete those of the service', async () => {
    const { responses } = document.paths['/v1/cats/treats'].post;

    expect(responses[201]).toMatchObject({
      description: 'The cat was ordered',
      content: json(ref('CatResponse')),
      headers: { Location: { $ref: '#/components/headers/Location' } },
    });
    expect(responses[409].description).toBe('All cats are sold');
    expect(responses[409].content['application/json'].examples.CONFLICT.value.error.message).toBe(
      'No cat is left',
    );
    expect((await api.post('/v1/cats/treats', {})).headers['location']).toBe('/v1/cats/1');
  });

  it('name only security schemes that are declared', async () => {
    await expect(buildDocument(api.app, describeApi(), REFERENCE_PARTS)).rejects.toThrow(
      'The security scheme "collar" of Cats_create_v1 is unknown: add it to src/openapi.ts',
    );
  });
});
