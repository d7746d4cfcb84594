import { expect, it } from '@jest/globals';
import {
  Body,
  Controller,
  DefaultValuePipe,
  Get,
  Module,
  Param,
  ParseArrayPipe,
  ParseBoolPipe,
  ParseEnumPipe,
  ParseIntPipe,
  ParseUUIDPipe,
  Patch,
  Post,
  Query,
  UsePipes,
  ValidationPipe,
} from '@nestjs/common';
import { PartialType } from '@nestjs/mapped-types';
import { Type } from 'class-transformer';
import {
  ArrayMaxSize,
  IsArray,
  IsEmail,
  IsInt,
  IsNumberString,
  IsOptional,
  IsString,
  Matches,
  Max,
  MaxLength,
  Min,
  registerDecorator,
  Validate,
  ValidateNested,
  ValidatorConstraint,
  type ValidatorConstraintInterface,
} from 'class-validator';
import { Public } from '../../src/platform/access/index.js';
import { onEach } from '../support/on-each.js';

@ValidatorConstraint({ async: true })
class IsFree implements ValidatorConstraintInterface {
  async validate(name: string): Promise<boolean> {
    return name !== 'taken';
  }

  defaultMessage(): string {
    return '$property is taken';
  }
}

const IsLongerThan = (property: string) => (target: object, propertyName: string) =>
  registerDecorator({
    name: 'isLongerThan',
    target: target.constructor,
    propertyName,
    constraints: [property],
    validator: {
      validate: (value: string, args) => value.length > String((args!.object as any)[property]).length,
      defaultMessage: () => '$property must be longer than $constraint1',
    },
  });

class ToyDto {
  @IsString({ message: 'a toy needs a name' })
  name!: string;

  @IsInt()
  @Min(0)
  price!: number;
}

class CreateCatDto {
  @IsString()
  @MaxLength(20, { message: 'name is too long, at most $constraint1 characters' })
  @Validate(IsFree)
  name!: string;

  @IsOptional()
  @IsLongerThan('name')
  description?: string;

  @IsOptional()
  @Type(() => Number)
  @IsInt()
  age?: number;

  @IsOptional()
  @IsString({ each: true })
  tags?: string[];

  @IsOptional()
  @ValidateNested({ each: true })
  @ArrayMaxSize(2)
  @Type(() => ToyDto)
  toys?: ToyDto[];
}

class RateCatDto {
  @IsInt()
  @Min(1)
  @Max(5)
  rating!: number;

  @IsOptional()
  @Max(5)
  @Min(1)
  @IsInt()
  reversed?: number;

  @IsOptional()
  @MaxLength(10)
  @IsEmail()
  @Matches(/x/)
  owner?: string;

  @IsOptional()
  @IsArray()
  @ArrayMaxSize(2)
  @IsString({ each: true })
  names?: string[];
}

/** Without rules. */
class WeighingDto {
  @Type(() => Date)
  at!: Date;

  grams = 0;
}

class UpdateCatDto extends PartialType(CreateCatDto) {}

class ListCatsQuery {
  @IsOptional()
  @Type(() => Number)
  @IsInt()
  @Max(100)
  limit = 10;

  @IsOptional()
  @IsString()
  breed?: string;

  @IsOptional()
  @IsArray()
  @IsString({ each: true })
  colors?: string[];
}

class FindOneParams {
  @IsNumberString()
  @Matches(/^[1-9]/)
  id!: string;
}

enum Size {
  Small = 'small',
  Large = 'large',
}

@Controller({ path: 'cats', version: '1' })
@Public()
class CatsController {
  @Post()
  create(@Body() cat: CreateCatDto): object {
    return { cat, isInstance: cat instanceof CreateCatDto, toy: cat.toys?.[0] instanceof ToyDto };
  }

  @Post('weighings')
  weigh(@Body() weighing: WeighingDto): object {
    const { at } = weighing;
    return { weighing, isInstance: weighing instanceof WeighingDto, isDate: at instanceof Date };
  }

  @Post('ratings')
  rate(@Body() rating: RateCatDto): object {
    return rating;
  }

  @Patch()
  update(@Body() cat: UpdateCatDto): object {
    return cat;
  }

  @Get()
  list(@Query() query: ListCatsQuery): object {
    return { query, isInstance: query instanceof ListCatsQuery };
  }

  @Get('raw')
  raw(@Query() query: Record<string, unknown>, @Query('breed') breed: string): object {
    return { query, breed };
  }

  @Get('parsed')
  parsed(
    @Query('ids', new ParseArrayPipe({ items: Number, separator: ',' })) ids: number[],
    @Query('page', new DefaultValuePipe(1), ParseIntPipe) page: number,
    @Query('tame', new DefaultValuePipe(false), ParseBoolPipe) tame: boolean,
    @Query('rank', new ParseIntPipe({ errorHttpStatusCode: 406, optional: true })) _rank: number,
    @Query('size', new ParseEnumPipe(Size, { optional: true })) size?: Size,
  ): object {
    return { ids, page, tame, size };
  }

  @Get('params/:id')
  params(@Param() { id }: FindOneParams): object {
    return { id };
  }

  @Get('converted/:id')
  converted(@Param('id') id: number, @Query('tame') tame: boolean): object {
    return { id, tame };
  }

  @Get('uuid/:id')
  uuid(@Param('id', ParseUUIDPipe) id: string): object {
    return { id };
  }

  @Post('many')
  many(@Body(new ParseArrayPipe({ items: CreateCatDto })) cats: CreateCatDto[]): object {
    return { names: cats.map(({ name }) => name), isInstance: cats[0] instanceof CreateCatDto };
  }

  @Post('member')
  member(@Body('name') name: string): object {
    return { name };
  }

  @Post('own-pipe')
  @UsePipes(new ValidationPipe({ forbidNonWhitelisted: true, whitelist: true }))
  ownPipe(@Body() cat: CreateCatDto): object {
    return cat;
  }

  @Post('own-parameter-pipe')
  ownParameterPipe(@Body(new ValidationPipe({ groups: [] })) cat: CreateCatDto): object {
    return cat;
  }

  @Post('no-body')
  noBody(): object {
    return { ok: true };
  }
}

@Module({ controllers: [CatsController] })
class CatsModule {}

onEach('input as in the Nest documentation', { modules: [CatsModule] }, ({ api }) => {
  it('creates instances of the class and its nested classes, converts values, and drops undeclared fields', async () => {
    const toys = [{ name: 'Ball', price: 3, secret: true }];
    const reply = await api.post('/v1/cats', { name: 'Tom', age: '3', toys, isAdmin: true });

    expect(reply).toHaveStatus(201);
    expect(reply.body).toEqual({
      cat: { name: 'Tom', age: 3, toys: [{ name: 'Ball', price: 3 }] },
      isInstance: true,
      toy: true,
    });
  });

  it.each([
    ['a rule with a message', { name: 'x'.repeat(21) }, 'name', 'name is too long, at most 20 characters'],
    ['an asynchronous rule', { name: 'taken' }, 'name', 'name is taken'],
    [
      'a rule that reads another field',
      { name: 'Tom', description: 'x' },
      'description',
      'description must be longer than name',
    ],
    ['a rule for each item', { name: 'Tom', tags: ['a', 1] }, 'tags', 'each value in tags must be a string'],
    [
      'a rule of a nested class',
      { name: 'Tom', toys: [{ name: 'Ball', price: -1 }] },
      'toys.0.price',
      'toys.0.price: price must not be less than 0',
    ],
    [
      'a nested rule with a message',
      { name: 'Tom', toys: [{ price: 1 }] },
      'toys.0.name',
      'toys.0.name: a toy needs a name',
    ],
    [
      'a string instead of a nested class',
      { name: 'Tom', toys: ['Ball'] },
      'toys.0',
      'each value in nested property toys must be either object or array',
    ],
    ['a value of another type', { name: 'Tom', age: { $gt: 1 } }, 'age', 'age must be an integer number'],
  ])('rejects %s', async (_, cat, field, message) => {
    const reply = await api.post('/v1/cats', cat);

    expect(reply).toBeError('VALIDATION_ERROR', [field]);
    expect(reply.body.error.message).toContain(message);
  });

  it.each([
    [{ rating: 'x' }, 'rating must be an integer number'],
    [{ rating: 1.5 }, 'rating must be an integer number'],
    [{}, 'rating must be an integer number'],
    [{ rating: 9 }, 'rating must not be greater than 5'],
    [{ rating: 1, reversed: 'x' }, 'reversed must be an integer number'],
    [{ rating: 1, owner: 'long but no address' }, 'owner must be an email'],
    [{ rating: 1, names: 'Tom' }, 'names must be an array'],
    [{ rating: 1, names: ['Tom', 1, 2] }, 'each value in names must be a string'],
  ])('names the rule of the type first: %j', async (rating, message) => {
    const { status, body } = await api.post('/v1/cats/ratings', rating);

    expect([status, body.error.message, body.error.details.length]).toEqual([422, message, 1]);
  });

  it('creates instances of a class without rules, converts values, and drops no fields', async () => {
    const at = '2026-01-02T03:04:05.000Z';
    const { body } = await api.post('/v1/cats/weighings', {
      at,
      place: { name: 'Shop', constructor: 1, prototype: {} },
    });

    expect(body).toEqual({
      weighing: { at, grams: 0, place: { name: 'Shop' } },
      isInstance: true,
      isDate: true,
    });
  });

  it('picks the declared fields from a body with thousands of others', async () => {
    const others = Object.fromEntries(Array.from({ length: 4900 }, (_, n) => [`k${n}`, [n]]));
    const reply = await api.post('/v1/cats', { ...others, name: 'Tom', toys: [{ name: 'Ball', price: 3 }] });

    expect(reply.body.cat).toEqual({ name: 'Tom', toys: [{ name: 'Ball', price: 3 }] });
    expect(await api.post('/v1/cats', others)).toBeError('VALIDATION_ERROR', ['name']);
  });

  it('validates a query class, and keeps repeated keys only for arrays', async () => {
    const one = await api.get('/v1/cats?limit=5&limit=7&colors=red&colors=black&breed=a&breed=b&more=1');
    expect(one.body).toEqual({
      query: { limit: 5, breed: 'a', colors: ['red', 'black'] },
      isInstance: true,
    });

    expect((await api.get('/v1/cats')).body.query).toEqual({ limit: 10 });
    expect(await api.get('/v1/cats?limit=many')).toBeError('VALIDATION_ERROR', ['limit']);
    expect(await api.get('/v1/cats?colors=red')).toBeError('VALIDATION_ERROR', ['colors']);
  });

  it('passes a query without a class unchanged, and a single value to a single parameter', async () => {
    const { body } = await api.get('/v1/cats/raw?breed=a&breed=b&x=1');

    expect(body).toEqual({ query: { breed: ['a', 'b'], x: '1' }, breed: 'a' });
  });

  it('supports the Parse… pipes', async () => {
    const { body } = await api.get('/v1/cats/parsed?ids=1,2&page=3&tame=true&size=large');
    expect(body).toEqual({ ids: [1, 2], page: 3, tame: true, size: 'large' });
    expect((await api.get('/v1/cats/parsed?ids=1')).body).toEqual({ ids: [1], page: 1, tame: false });

    for (const query of ['ids=a', 'ids=1&page=x', 'ids=1&tame=perhaps', 'ids=1&size=huge', '']) {
      expect(await api.get(`/v1/cats/parsed?${query}`)).toBeError('MALFORMED_REQUEST');
    }
    expect((await api.get('/v1/cats/parsed?ids=1&rank=x')).status).toBe(406);
  });

  it('validates a class of path parameters, and converts primitives', async () => {
    expect((await api.get('/v1/cats/params/12')).body).toEqual({ id: '12' });
    expect(await api.get('/v1/cats/params/x')).toBeError('VALIDATION_ERROR', ['id']);
    expect((await api.get('/v1/cats/converted/12?tame=true')).body).toEqual({ id: 12, tame: true });
    expect(await api.get('/v1/cats/uuid/12')).toBeError('MALFORMED_REQUEST');
  });

  it('validates arrays of a class', async () => {
    const { body } = await api.post('/v1/cats/many', [{ name: 'Tom' }, { name: 'Kit' }]);
    expect(body).toEqual({ names: ['Tom', 'Kit'], isInstance: true });

    expect(await api.post('/v1/cats/many', [{ name: 1 }])).toBeError('MALFORMED_REQUEST');
  });

  it('validates mapped types by the rules of their fields', async () => {
    expect((await api.patch('/v1/cats', {})).body).toEqual({});
    expect((await api.patch('/v1/cats', { age: 4, isAdmin: true })).body).toEqual({ age: 4 });
    expect(await api.patch('/v1/cats', { name: 1 })).toBeError('VALIDATION_ERROR', ['name']);
  });

  it('supports a pipe on a handler', async () => {
    expect(await api.post('/v1/cats/own-pipe', { name: 'Tom' })).toHaveStatus(201);
    expect(await api.post('/v1/cats/own-pipe', { name: 1 })).toBeError('VALIDATION_ERROR');
    expect(await api.post('/v1/cats/own-parameter-pipe', { name: 1 })).toBeError('VALIDATION_ERROR');
  });

  it.each(['', '/many', '/member', '/own-pipe', '/own-parameter-pipe'])(
    'rejects a malformed body at %j, whatever parameters the handler has',
    async (path) => {
      expect(await api.post(`/v1/cats${path}`, '{"name":')).toBeError('MALFORMED_REQUEST');
      expect(await api.post(`/v1/cats${path}`, '{"name":"a","name":"b"}')).toBeError('MALFORMED_REQUEST');
    },
  );

  it('ignores a malformed body that the handler does not read', async () => {
    expect(await api.post('/v1/cats/no-body', '{')).toHaveStatus(201);
  });
});
