import { Context, Parent, ResolveField, Resolver } from '@nestjs/graphql';
import { AppError } from '../../common/errors/errors.js';
import { RequestLoader } from '../../common/loading/request-loader.js';
import { ResponseBudget } from '../../common/loading/response-budget.js';
import { PostLists } from '../post-lists.js';
import { PostType } from './post.type.js';

/** Loads contents only if they are selected, and only after their size is known. */
@Resolver(() => PostType)
export class PostContentResolver {
  private readonly budget = new ResponseBudget();
  private readonly contents = new RequestLoader<number, string>(async (ids) => {
    const contents = await this.posts.contentsOf(ids);
    return ids.map((id) => contents.get(id) ?? new AppError('NOT_FOUND', 'Post not found'));
  });

  constructor(private readonly posts: PostLists) {}

  @ResolveField(() => String)
  content(@Parent() { id, contentBytes }: PostType, @Context() context: object): Promise<string> {
    this.budget.spend(context, contentBytes);
    return this.contents.load(context, id);
  }
}
