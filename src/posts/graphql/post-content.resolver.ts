import { Context, Parent, ResolveField, Resolver } from '@nestjs/graphql';
import { AppError } from '../../common/errors/errors.js';
import { RequestLoader } from '../../common/loading/request-loader.js';
import { ResponseBudget } from '../../common/loading/response-budget.js';
import { loadMuch, takeTurns } from '../../common/http/turns.js';
import { PostLists } from '../post-lists.js';
import { PostType } from './post.type.js';

/** More contents than this, in bytes, are loaded one operation after the other. */
const MUCH = 256 * 1024;

/** Loads contents only if they are selected, and only after their size is known. */
@Resolver(() => PostType)
export class PostContentResolver {
  private readonly budget = new ResponseBudget();
  private readonly contents = new RequestLoader<PostType, string, number>(
    (posts: readonly PostType[], context) => this.load(posts, context),
    ({ id }) => id,
  );

  constructor(private readonly posts: PostLists) {}

  @ResolveField(() => String)
  content(@Parent() post: PostType, @Context() context: object): Promise<string> {
    this.budget.spend(context, post.contentBytes);
    return this.contents.load(context, post);
  }

  private async load(posts: readonly PostType[], context: object): Promise<(string | AppError)[]> {
    this.budget.check(context);
    const ids = posts.map(({ id }) => id);
    const bytes = posts.reduce((sum, { contentBytes }) => sum + contentBytes, 0);
    if (bytes > MUCH) takeTurns(context);
    const contents = await (bytes > MUCH
      ? loadMuch(() => this.posts.contentsOf(ids))
      : this.posts.contentsOf(ids));
    return ids.map((id) => contents.get(id) ?? new AppError('NOT_FOUND', 'Post not found'));
  }
}
