import { Context, Parent, ResolveField, Resolver } from '@nestjs/graphql';
import { toUserType, UserType } from '../../users/user.type.js';
import { UsersService } from '../../users/users.service.js';
import { RequestLoader } from '../../common/loading/request-loader.js';
import { PostType } from './post.type.js';

@Resolver(() => PostType)
export class PostAuthorResolver {
  private readonly authors = new RequestLoader(async (ids: readonly number[]) => {
    const users = await this.users.findByIds(ids);
    const byId = new Map(users.map((user) => [user.id, toUserType(user)]));
    return ids.map((id) => byId.get(id) ?? null);
  });

  constructor(private readonly users: UsersService) {}

  @ResolveField(() => UserType, { nullable: true })
  author(@Parent() { authorId }: PostType, @Context() context: object): Promise<UserType | null> {
    return this.authors.load(context, authorId);
  }
}
