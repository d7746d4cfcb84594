import { Args, Context, Int, Parent, ResolveField, Resolver } from '@nestjs/graphql';
import { listCost, toRange } from '../../common/pagination/page-args.js';
import { UserType } from '../../users/user.type.js';
import { ChildrenLoader } from '../../common/loading/children-loader.js';
import { PostLists } from '../post-lists.js';
import { PostType, toPostType } from './post.type.js';

const PAGES = { limit: 100, maxLimit: 100 };

/** The field that posts add to a user: the user's newest posts. */
@Resolver(() => UserType)
export class UserPostsResolver {
  private readonly newest = new ChildrenLoader<PostType>(
    async (authorIds, range) => (await this.service.newestByAuthors(authorIds, range)).map(toPostType),
    ({ authorId }) => authorId,
  );

  constructor(private readonly service: PostLists) {}

  @ResolveField(() => [PostType], {
    description: 'The newest first; a limit outside 1 to 100 is replaced by 100.',
    complexity: listCost(PAGES),
  })
  posts(
    @Parent() { id }: UserType,
    @Args('page', { type: () => Int, nullable: true, defaultValue: 1 }) page: number | null,
    @Args('limit', { type: () => Int, nullable: true, defaultValue: PAGES.limit }) limit: number | null,
    @Context() context: object,
  ): Promise<PostType[]> {
    return this.newest.load(context, id, toRange({ page, limit }, PAGES));
  }
}
