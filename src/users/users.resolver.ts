import { Args, ID, Int, Mutation, Query, Resolver } from '@nestjs/graphql';
import { WriteAccess } from '../auth/access/index.js';
import { listCost, toRange } from '../common/pagination/page-args.js';
import { NO_ROW, toId } from '../common/validation/id.js';
import { CreateUserInput, UpdateUserInput } from './user.input.js';
import { toUserType, UserType } from './user.type.js';
import { UsersService } from './users.service.js';

const PAGES = { limit: 10, maxLimit: 100 };

@Resolver(() => UserType)
@WriteAccess()
export class UsersResolver {
  constructor(private readonly service: UsersService) {}

  @Query(() => UserType, { nullable: true, description: 'One user; null when there is none with this id.' })
  async user(@Args('id', { type: () => ID }) id: string): Promise<UserType | null> {
    const user = await this.service.find(toId(id) ?? NO_ROW);
    return user ? toUserType(user) : null;
  }

  @Query(() => [UserType], {
    description: 'Users in the order of their ids; a limit outside 1 to 100 is replaced by 10.',
    complexity: listCost(PAGES),
  })
  async users(
    @Args('page', { type: () => Int, nullable: true, defaultValue: 1 }) page: number | null,
    @Args('limit', { type: () => Int, nullable: true, defaultValue: PAGES.limit }) limit: number | null,
  ): Promise<UserType[]> {
    const users = await this.service.findAll(toRange({ page, limit }, PAGES));
    return users.map(toUserType);
  }

  @Mutation(() => UserType, { description: 'Creates a user.' })
  async createUser(@Args('input') input: CreateUserInput): Promise<UserType> {
    return toUserType(await this.service.create(input));
  }

  @Mutation(() => UserType, { description: 'Updates the given fields; null leaves a field unchanged.' })
  async updateUser(
    @Args('id', { type: () => ID }) id: string,
    @Args('input') input: UpdateUserInput,
  ): Promise<UserType> {
    return toUserType(await this.service.update(toId(id) ?? NO_ROW, input));
  }
}
