import { Args, ID, Int, Mutation, Query, Resolver } from '@nestjs/graphql';
import { WriteAccess } from '../platform/access/index.js';
import { listCost, toRange } from '../platform/graphql/page-args.js';
import { IdPipe } from '../platform/http/validation/id.js';
import { CreateUserInput, UpdateUserInput } from './user.input.js';
import { toUserView, UserView } from './user.view.js';
import { UsersService } from './users.service.js';

const PAGES = { limit: 10, maxLimit: 100 };

@Resolver(() => UserView)
@WriteAccess()
export class UsersResolver {
  constructor(private readonly service: UsersService) {}

  @Query(() => UserView, { nullable: true, description: 'One user; null when there is none with this id.' })
  async user(@Args('id', { type: () => ID }, IdPipe) id: number): Promise<UserView | null> {
    const user = await this.service.find(id);
    return user ? toUserView(user) : null;
  }

  @Query(() => [UserView], {
    description: 'Users in the order of their ids; a limit outside 1 to 100 is replaced by 10.',
    complexity: listCost(PAGES),
  })
  async users(
    @Args('page', { type: () => Int, nullable: true, defaultValue: 1 }) page: number | null,
    @Args('limit', { type: () => Int, nullable: true, defaultValue: PAGES.limit }) limit: number | null,
  ): Promise<UserView[]> {
    const users = await this.service.listRange(toRange({ page, limit }, PAGES));
    return users.map(toUserView);
  }

  @Mutation(() => UserView, { description: 'Creates a user.' })
  async createUser(@Args('input') input: CreateUserInput): Promise<UserView> {
    return toUserView(await this.service.create(input));
  }

  @Mutation(() => UserView, { description: 'Updates the given fields; null leaves a field unchanged.' })
  async updateUser(
    @Args('id', { type: () => ID }, IdPipe) id: number,
    @Args('input') input: UpdateUserInput,
  ): Promise<UserView> {
    return toUserView(await this.service.update(id, input));
  }

  @Mutation(() => ID, { description: 'Deletes a user without posts, and returns its id.' })
  async deleteUser(@Args('id', { type: () => ID }, IdPipe) id: number): Promise<number> {
    await this.service.delete(id);
    return id;
  }
}
