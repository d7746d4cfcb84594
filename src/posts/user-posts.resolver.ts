import { Args, Context, Int, Parent, ResolveField, Resolver } from '@nestjs/graphql';
import { ChildrenLoader } from '../platform/graphql/loading/children-loader.js';
import { listCost, type Range, toRange } from '../platform/graphql/page-args.js';
import { UserView } from '../users/user.view.js';
import { type PostSummary, PostView } from './post.view.js';
import { PostLists } from './post-lists.js';

const PAGES = { limit: 100, maxLimit: 100 };

/** The field that posts add to a user: the user's newest posts. */
@Resolver(() => UserView)
export class UserPostsResolver {
  private readonly newest = new ChildrenLoader<PostSummary, Range>(
    (authorIds, range) => this.lists.newestByAuthors(authorIds, range),
    ({ author_id }) => author_id,
  );

  constructor(private readonly lists: PostLists) {}

  @ResolveField(() => [PostView], {
    description: 'The newest first; a limit outside 1 to 100 is replaced by 100.',
    complexity: listCost(PAGES),
  })
  posts(
    @Parent() { id }: UserView,
    @Args('page', { type: () => Int, nullable: true, defaultValue: 1 }) page: number | null,
    @Args('limit', { type: () => Int, nullable: true, defaultValue: PAGES.limit }) limit: number | null,
    @Context() context: object,
  ): Promise<PostSummary[]> {
    return this.newest.load(context, Number(id), toRange({ page, limit }, PAGES));
  }
}
