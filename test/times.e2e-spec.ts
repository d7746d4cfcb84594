import { expect, it } from '@jest/globals';
import { Body, Controller, Module, Patch, Post } from '@nestjs/common';
import { Args, Field, InputType, Query, Resolver } from '@nestjs/graphql';
import { Public } from '../src/platform/access/index.js';
import { OptionalField, Time } from '../src/platform/http/validation/fields.js';
import { PartialInputType } from '../src/platform/http/validation/partial-input.js';
import { onEach } from './support/on-each.js';

@InputType()
class PlanInput {
  @Field(() => Date)
  @Time()
  due!: Date;

  @Field(() => Date, { nullable: true })
  @OptionalField()
  @Time()
  seen?: Date | null;
}

@InputType()
class PlanChanges extends PartialInputType(PlanInput) {}

/** The names of the classes that the handler gets, with the values. */
const shown = (input: Partial<PlanInput>): string =>
  Object.entries(input)
    .filter(([, value]) => value !== undefined)
    .map(([name, value]) =>
      value instanceof Date ? `${name}: Date ${value.toISOString()}` : `${name}: ${value}`,
    )
    .join(', ');

@Controller('plans')
@Public()
class PlansController {
  @Post()
  create(@Body() input: PlanInput): object {
    return { shown: shown(input) };
  }

  @Patch()
  update(@Body() input: PlanChanges): object {
    return { shown: shown(input) };
  }
}

@Resolver()
@Public()
class PlansResolver {
  @Query(() => String)
  plan(@Args('input') input: PlanInput): string {
    return shown(input);
  }
}

@Module({ controllers: [PlansController], providers: [PlansResolver] })
class PlansModule {}

onEach('times of inputs', { modules: [PlansModule] }, ({ api }) => {
  const graphql = async (input: object) =>
    (await api.graphql('query ($input: PlanInput!) { plan(input: $input) }', { input })).body;

  it.each([
    ['2030-01-01T00:00:00Z', '2030-01-01T00:00:00.000Z'],
    ['2030-01-01T01:30:00.1234+01:30', '2030-01-01T00:00:00.123Z'],
  ])('are dates, over REST and GraphQL: %s', async (due, utc) => {
    const expected = `due: Date ${utc}`;

    expect((await api.post('/plans', { due })).body).toEqual({ shown: expected });
    expect((await api.patch('/plans', { due })).body).toEqual({ shown: expected });
    expect(await graphql({ due })).toEqual({ data: { plan: expected } });
  });

  it('may be null where they are optional', async () => {
    const input = { due: '2030-01-01T00:00:00Z', seen: null };
    const expected = 'due: Date 2030-01-01T00:00:00.000Z, seen: null';

    expect((await api.post('/plans', input)).body).toEqual({ shown: expected });
    expect(await graphql(input)).toEqual({ data: { plan: expected } });
  });

  it.each([undefined, null, '', 'tomorrow', '2030-01-01', '2030-02-30T00:00:00Z', 1_900_000_000, {}, []])(
    'are rejected: %j',
    async (due) => {
      const { status, body } = await api.post('/plans', { due });

      expect(status).toBe(422);
      expect(body.error.details).toEqual([
        { field: 'due', message: 'due must be a time such as 2030-01-01T00:00:00Z (RFC 3339)' },
      ]);
      expect((await graphql({ due })).errors).toHaveLength(1);
    },
  );
});
