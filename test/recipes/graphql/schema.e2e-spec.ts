import { expect, it } from '@jest/globals';
import { Module } from '@nestjs/common';
import {
  Args,
  createUnionType,
  CustomScalar,
  Extensions,
  Field,
  type FieldMiddleware,
  Float,
  ID,
  InputType,
  Int,
  InterfaceType,
  type MiddlewareContext,
  type NextFn,
  ObjectType,
  Query,
  registerEnumType,
  Resolver,
  Scalar,
} from '@nestjs/graphql';
import { Kind, type ValueNode } from 'graphql';
import { Public } from '../../../src/platform/access/index.js';
import { startApi } from '../../support/api.js';
import { onEach } from '../../support/on-each.js';
import { ANY_STORE } from '../../support/stores.js';

@Scalar('Timestamp')
class TimestampScalar implements CustomScalar<number, Date> {
  description = 'Milliseconds since 1970';

  parseValue(value: unknown): Date {
    if (typeof value !== 'number') throw new TypeError('A timestamp is a number');
    return new Date(value);
  }

  serialize(value: unknown): number {
    return (value as Date).getTime();
  }

  parseLiteral(ast: ValueNode): Date {
    if (ast.kind !== Kind.INT) throw new TypeError('A timestamp is a number');
    return new Date(Number(ast.value));
  }
}

enum AllowedColor {
  RED,
  GREEN,
}
registerEnumType(AllowedColor, { name: 'AllowedColor' });

@InterfaceType()
abstract class Character {
  @Field(() => ID)
  id!: string;

  @Field({ middleware: [async (_: MiddlewareContext, next: NextFn) => String(await next()).toUpperCase()] })
  name!: string;
}

const roleOnly: FieldMiddleware = async ({ info, context }, next) => {
  const { role } = info!.parentType.getFields()[info!.fieldName]!.extensions;
  return role === 'ADMIN' && !context.user ? null : next();
};

@ObjectType({ implements: () => [Character] })
class Human extends Character {
  @Field(() => AllowedColor)
  color!: AllowedColor;

  @Field(() => TimestampScalar)
  born!: Date;

  @Field({ nullable: true, middleware: [roleOnly] })
  @Extensions({ role: 'ADMIN' })
  password?: string;
}

@ObjectType()
class Robot {
  @Field(() => Float)
  weight!: number;
}

const Being = createUnionType({
  name: 'Being',
  types: () => [Human, Robot] as const,
  resolveType: (value: object) => ('weight' in value ? Robot : Human),
});

@InputType()
class HumanFilter {
  @Field(() => AllowedColor, { defaultValue: AllowedColor.GREEN })
  color!: AllowedColor;

  @Field(() => Int, { nullable: true })
  limit?: number;
}

const ADA: Human = Object.assign(new Human(), {
  id: '1',
  name: 'ada',
  color: AllowedColor.RED,
  born: new Date(0),
  password: 'x',
});

const GRACE: Human = Object.assign(new Human(), ADA, { id: '2' });

@Resolver(() => Human)
@Public()
class HumansResolver {
  @Query(() => [Human])
  humans(@Args('filter', { nullable: true }) filter?: HumanFilter): Human[] {
    return filter?.color === AllowedColor.GREEN ? [] : [ADA, GRACE];
  }

  @Query(() => [Being])
  beings(): (typeof Being)[] {
    return [ADA, Object.assign(new Robot(), { weight: 1.5 })];
  }

  @Query(() => Character)
  character(): Character {
    return ADA;
  }

  @Query(() => String)
  echo(@Args('at', { type: () => TimestampScalar }) at: Date): string {
    return at.toISOString();
  }

  @Query(() => Date)
  dayAfter(@Args('time') time: Date): Date {
    return new Date(time.getTime() + 86_400_000);
  }
}

@Module({ providers: [TimestampScalar, HumansResolver] })
class HumansModule {}

onEach('documented types', { modules: [HumansModule] }, ({ api }) => {
  it('work as scalars, enums, interfaces, unions and with field middleware', async () => {
    const { body } = await api.graphql(`{
      humans { id name color born password }
      beings { __typename ... on Human { id } ... on Robot { weight } }
      character { __typename name ... on Human { color } }
      echo(at: 1000)
    }`);

    expect(body.errors).toBeUndefined();
    expect(body.data).toEqual({
      humans: ['1', '2'].map((id) => ({ id, name: 'ADA', color: 'RED', born: 0, password: null })),
      beings: [
        { __typename: 'Human', id: '1' },
        { __typename: 'Robot', weight: 1.5 },
      ],
      character: { __typename: 'Human', name: 'ADA', color: 'RED' },
      echo: '1970-01-01T00:00:01.000Z',
    });
  });

  it('are validated in the input', async () => {
    const echo = 'query ($at: Timestamp!) { echo(at: $at) }';

    expect((await api.graphql('{ humans(filter: {}) { id } }')).body.data.humans).toEqual([]);
    expect((await api.graphql(echo, { at: 0 })).body.data.echo).toBe('1970-01-01T00:00:00.000Z');
    for (const { body } of [
      await api.graphql(echo, { at: 'x' }),
      await api.graphql('{ echo(at: "x") }'),
      await api.graphql('{ humans(filter: { color: BLUE }) { id } }'),
    ]) {
      expect(body.data).toBeUndefined();
      expect(body.errors[0].extensions.code).toBe('BAD_USER_INPUT');
    }
  });

  it('have times, as results and arguments', async () => {
    const dayAfter = 'query ($time: DateTime!) { dayAfter(time: $time) }';
    const next = { dayAfter: '2024-02-29T12:00:00.000Z' };

    expect((await api.graphql('{ dayAfter(time: "2024-02-28T12:00:00Z") }')).body.data).toEqual(next);
    expect((await api.graphql(dayAfter, { time: '2024-02-28T13:00:00+01:00' })).body.data).toEqual(next);
    for (const { body } of [
      await api.graphql(dayAfter, { time: 'tomorrow' }),
      await api.graphql(dayAfter, { time: 0 }),
      await api.graphql('{ dayAfter(time: "2024-02-30T12:00:00Z") }'),
    ]) {
      expect(body.data).toBeUndefined();
      expect(body.errors[0].extensions.code).toBe('BAD_USER_INPUT');
      expect(body.errors[0].message).toContain('A DateTime must be text as in RFC 3339');
      expect(body.errors[0].locations).toHaveLength(1);
    }
  });
});

@Scalar('Epoch', () => Date)
class EpochScalar extends TimestampScalar {}

@Module({ providers: [EpochScalar] })
class EpochModule {}

it('a second scalar for Date stops the start', async () => {
  await expect(startApi(ANY_STORE, {}, [EpochModule])).rejects.toThrow(
    'EpochScalar must not be the scalar of Date, which is DateTimeScalar: leave out the type in its @Scalar(), and use @Field(() => EpochScalar)',
  );
});
