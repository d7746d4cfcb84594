import { Context, Parent, ResolveField, Resolver } from '@nestjs/graphql';
import { AppError } from '../common/errors/errors.js';
import { loadMuch, takeTurns } from '../common/http/turns.js';
import { RequestLoader } from '../common/loading/request-loader.js';
import { ResponseBudget } from '../common/loading/response-budget.js';
import { type Dated, withDates } from '../common/loading/with-dates.js';
import { toUserView, UserView } from '../users/user.view.js';
import { UsersService } from '../users/users.service.js';
import { type PostSummary, PostView } from './post.view.js';
import { PostLists } from './post-lists.js';

/** More contents than this, in bytes, are loaded one operation after the other. */
const MUCH = 256 * 1024;

/** The fields of posts that are loaded only if they are selected. */
@Resolver(() => PostView)
export class PostsResolver {
  private readonly budget = new ResponseBudget();

  private readonly authors = new RequestLoader(async (ids: readonly number[]) => {
    const users = await this.users.findByIds(ids);
    const byId = new Map(users.map((user) => [user.id, withDates(toUserView(user))]));
    return ids.map((id) => byId.get(id) ?? null);
  });

  private readonly contents = new RequestLoader<PostSummary, string, number>(
    (posts: readonly PostSummary[], context) => this.loadContents(posts, context),
    ({ id }) => id,
  );

  constructor(
    private readonly lists: PostLists,
    private readonly users: UsersService,
  ) {}

  @ResolveField(() => UserView, { nullable: true })
  author(@Parent() { author_id }: PostSummary, @Context() context: object): Promise<Dated<UserView> | null> {
    return this.authors.load(context, author_id);
  }

  @ResolveField(() => String)
  content(@Parent() post: PostSummary, @Context() context: object): Promise<string> {
    this.budget.spend(context, post.content_bytes);
    return this.contents.load(context, post);
  }

  /** Only after the size of the contents is known. */
  private async loadContents(posts: readonly PostSummary[], context: object): Promise<(string | AppError)[]> {
    this.budget.check(context);
    const ids = posts.map(({ id }) => id);
    const bytes = posts.reduce((sum, { content_bytes }) => sum + content_bytes, 0);
    if (bytes > MUCH) takeTurns(context);
    const contents = await (bytes > MUCH
      ? loadMuch(() => this.lists.contentsOf(ids))
      : this.lists.contentsOf(ids));
    return ids.map((id) => contents.get(id) ?? new AppError('NOT_FOUND', 'Post not found'));
  }
}
