import { beforeAll, expect, it } from '@jest/globals';
import {
  type ArgumentsHost,
  type CallHandler,
  type CanActivate,
  Catch,
  ConflictException,
  type ExecutionContext,
  GoneException,
  HttpException,
  Injectable,
  Module,
  type NestInterceptor,
  UseFilters,
  UseGuards,
  UseInterceptors,
  UsePipes,
  ValidationPipe,
} from '@nestjs/common';
import {
  Args,
  Field,
  GqlArgumentsHost,
  GqlExecutionContext,
  type GqlExceptionFilter,
  InputType,
  Int,
  Mutation,
  ObjectType,
  Parent,
  Query,
  ResolveField,
  Resolver,
} from '@nestjs/graphql';
import { IsInt, Max, MinLength } from 'class-validator';
import { GraphQLError } from 'graphql';
import { map, type Observable } from 'rxjs';
import { Public, StaffOnly } from '../../../src/platform/access/index.js';
import { onEach } from '../../support/on-each.js';

// Loaded after Nest: Jest cannot load a CommonJS package that requires an ES module which is still loading.
const { Throttle, ThrottlerGuard, ThrottlerModule } = await import('@nestjs/throttler');

@Injectable()
class HeaderGuard implements CanActivate {
  canActivate(context: ExecutionContext): boolean {
    const { req } = GqlExecutionContext.create(context).getContext();
    return req.headers['x-secret'] === 'open';
  }
}

@Injectable()
class GqlThrottlerGuard extends ThrottlerGuard {
  override getRequestResponse(context: ExecutionContext) {
    const { req, res } = GqlExecutionContext.create(context).getContext();
    return { req, res };
  }
}

@Injectable()
class LoudInterceptor implements NestInterceptor {
  intercept(_: ExecutionContext, next: CallHandler): Observable<unknown> {
    return next.handle().pipe(map((value) => `${String(value)}!`));
  }
}

@Catch(ConflictException)
class ConflictFilter implements GqlExceptionFilter {
  catch(exception: HttpException, host: ArgumentsHost): GraphQLError {
    const { fieldName } = GqlArgumentsHost.create(host).getInfo();
    return new GraphQLError(`${fieldName}: ${exception.message}`, { extensions: { code: 'TAKEN', seat: 7 } });
  }
}

@InputType()
class SeatInput {
  @Field()
  @MinLength(3)
  name!: string;

  @Field(() => Int)
  @IsInt()
  @Max(10)
  row!: number;
}

@ObjectType()
class Seat {
  @Field(() => Int)
  row!: number;
}

@Resolver(() => Seat)
class SeatsResolver {
  @Query(() => Seat)
  @Public()
  seat(): Seat {
    return { row: 1 };
  }

  @Query(() => [Seat])
  @Public()
  seats(): Seat[] {
    return [{ row: 1 }, { row: 2 }];
  }

  @Query(() => String)
  @Public()
  @UseGuards(HeaderGuard)
  secret(): string {
    return 'secret';
  }

  @Query(() => Int)
  @Public()
  @UseGuards(GqlThrottlerGuard)
  @Throttle({ default: { limit: 2, ttl: 60_000 } })
  throttled(): number {
    return 1;
  }

  @Query(() => String)
  @Public()
  @UseInterceptors(LoudInterceptor)
  loud(): string {
    return 'hello';
  }

  @Query(() => String)
  @Public()
  @UseFilters(ConflictFilter)
  taken(): string {
    throw new ConflictException('taken');
  }

  @Query(() => String)
  @Public()
  thrown(@Args('what') what: string): string {
    if (what === 'gone') throw new GoneException('It is gone');
    if (what === 'bad gateway') throw new HttpException('internal address', 502);
    if (what === 'coded') throw new GraphQLError('No tea', { extensions: { code: 'TEAPOT', cup: 1 } });
    throw new GraphQLError('Plain');
  }

  @Mutation(() => Int)
  @Public()
  @UsePipes(new ValidationPipe())
  reserve(@Args('input') input: SeatInput): number {
    return input.row;
  }

  @ResolveField(() => String)
  free(@Parent() { row }: Seat): string {
    return `row ${row}`;
  }

  @ResolveField(() => String, { nullable: true })
  @UseGuards(HeaderGuard)
  guarded(): string {
    return 'guarded';
  }

  @ResolveField(() => String, { nullable: true })
  @StaffOnly()
  forStaff(): string {
    return 'for staff';
  }

  @ResolveField(() => String)
  @UseInterceptors(LoudInterceptor)
  loudField(): string {
    return 'field';
  }

  @ResolveField(() => String, { nullable: true })
  @UseFilters(ConflictFilter)
  takenField(): string {
    throw new ConflictException('taken');
  }
}

@Resolver(() => Seat)
@StaffOnly()
class SeatPricesResolver {
  @ResolveField(() => Int, { nullable: true })
  price(): number {
    return 5;
  }
}

@Module({
  imports: [ThrottlerModule.forRoot([{ ttl: 60_000, limit: 1000 }])],
  providers: [SeatsResolver, SeatPricesResolver],
})
class SeatsModule {}

onEach('documented enhancers', { modules: [SeatsModule] }, ({ api }) => {
  let staff: Record<string, string>;
  beforeAll(async () => {
    staff = await api.accounts.logInNewStaff();
  });

  const run = async (query: string, headers = {}) => (await api.graphql(query, {}, headers)).body;

  it('guards see the request', async () => {
    expect((await run('{ secret }', { 'x-secret': 'open' })).data).toEqual({ secret: 'secret' });
    expect((await run('{ secret }')).errors[0].extensions.code).toBe('FORBIDDEN');
  });

  it('guards of fields run, and other fields inherit that of their class', async () => {
    const query = '{ seats { row free guarded forStaff price } }';
    const { data, errors } = await run(query);

    expect(data.seats).toEqual(
      [1, 2].map((row) => ({ row, free: `row ${row}`, guarded: null, forStaff: null, price: null })),
    );
    expect(errors.map(({ extensions }: any) => extensions.code).toSorted()).toEqual([
      'FORBIDDEN',
      'FORBIDDEN',
      'UNAUTHENTICATED',
      'UNAUTHENTICATED',
      'UNAUTHENTICATED',
      'UNAUTHENTICATED',
    ]);
    expect((await run(query, { ...staff, 'x-secret': 'open' })).data.seats[0]).toEqual({
      row: 1,
      free: 'row 1',
      guarded: 'guarded',
      forStaff: 'for staff',
      price: 5,
    });
  });

  it('the throttler counts operations', async () => {
    const replies = [];
    for (let n = 0; n < 3; n++) replies.push(await api.graphql('{ throttled }'));

    expect(replies[1]!.body.data).toEqual({ throttled: 1 });
    expect(replies[1]!.headers['x-ratelimit-remaining']).toBe('0');
    expect(replies[2]!.body.errors[0].extensions.code).toBe('RATE_LIMITED');
  });

  it('interceptors and filters run, also on fields', async () => {
    const { data, errors } = await run('{ loud seat { loudField takenField } }');

    expect(data).toEqual({ loud: 'hello!', seat: { loudField: 'field!', takenField: null } });
    expect(errors).toEqual([
      {
        message: 'takenField: taken',
        path: ['seat', 'takenField'],
        locations: expect.any(Array),
        extensions: { code: 'TAKEN', seat: 7, requestId: expect.any(String) },
      },
    ]);
    expect((await run('{ taken }')).errors[0]).toMatchObject({ message: 'taken: taken' });
  });

  it.each([
    ['gone', 'It is gone', { code: 'BAD_USER_INPUT' }],
    [
      'bad gateway',
      'Internal error; report the request id to the operators of the service',
      { code: 'INTERNAL_SERVER_ERROR' },
    ],
    ['coded', 'No tea', { code: 'TEAPOT', cup: 1 }],
    ['plain', 'Plain', { code: 'INTERNAL_SERVER_ERROR' }],
  ])('exceptions keep their status and message: %s', async (what, message, extensions) => {
    const [error] = (await run(`{ thrown(what: "${what}") }`)).errors;

    expect(error.message).toBe(message);
    expect(error.extensions).toEqual({ ...extensions, requestId: expect.any(String) });
  });

  it('ValidationPipe validates inputs', async () => {
    expect((await run('mutation { reserve(input: { name: "Ada", row: 10 }) }')).data).toEqual({
      reserve: 10,
    });
    const { errors } = await run('mutation { reserve(input: { name: "A", row: 11 }) }');

    expect(errors[0].extensions.code).toBe('BAD_USER_INPUT');
  });
});
