import { Context, Parent, ResolveField, Resolver } from '@nestjs/graphql';
import { AppError } from '../common/errors/errors.js';
import { loadLarge, shareEventLoop } from '../common/loading/event-loop.js';
import { RequestLoader } from '../common/loading/request-loader.js';
import { ResponseBudget } from './response-budget.js';
import { toUserView, UserView } from '../users/user.view.js';
import { UsersService } from '../users/users.service.js';
import { entityTag } from '../common/responses/entity-tag.js';
import { type PostNode, type PostSummary, PostView } from './post.view.js';
import { PostLists } from './post-lists.js';

type WithoutContent = Pick<PostSummary, 'id' | 'content_bytes'>;

/** More contents than this, in bytes, are loaded one operation after the other. */
const MUCH = 256 * 1024;

/** The fields of posts that are loaded or computed only if they are selected. */
@Resolver(() => PostView)
export class PostFieldsResolver {
  private readonly budget = new ResponseBudget();

  private readonly authors = new RequestLoader(async (ids: readonly number[]) => {
    const users = await this.users.findByIds(ids);
    const byId = new Map(users.map((user) => [user.id, toUserView(user)]));
    return ids.map((id) => byId.get(id) ?? null);
  });

  private readonly contents = new RequestLoader<WithoutContent, string, number>(
    (posts: readonly WithoutContent[], context) => this.loadContents(posts, context),
    ({ id }) => id,
  );

  constructor(
    private readonly lists: PostLists,
    private readonly users: UsersService,
  ) {}

  /** Without decorators of its parameters, which would cost as much as the rest of the field. */
  @ResolveField(() => UserView, { nullable: true, description: 'Who wrote the post.' })
  author({ author_id }: PostNode, _args: object, context: object): Promise<UserView | null> {
    return this.authors.load(context, author_id);
  }

  @ResolveField(() => String, { description: 'The text of the post.' })
  content(@Parent() post: PostNode, @Context() context: object): string | Promise<string> {
    if ('content_bytes' in post) {
      this.budget.spend(context, post.content_bytes);
      return this.contents.load(context, post);
    }
    // Read or written as a whole by a mutation, many of which may be in one operation.
    this.budget.spend(context, Buffer.byteLength(post.content));
    this.budget.check(context);
    return post.content;
  }

  @ResolveField(() => String, {
    description: 'Identifies the version of the post, as the `ETag` of REST does. For `ifMatch`.',
  })
  etag(@Parent() post: PostNode): string {
    return entityTag(post);
  }

  /** Only after the size of the contents is known. */
  private async loadContents(
    posts: readonly WithoutContent[],
    context: object,
  ): Promise<(string | AppError)[]> {
    this.budget.check(context);
    const ids = posts.map(({ id }) => id);
    const bytes = posts.reduce((sum, { content_bytes }) => sum + content_bytes, 0);
    if (bytes > MUCH) shareEventLoop(context);
    const contents = await (bytes > MUCH
      ? loadLarge(() => this.lists.contentsOf(ids))
      : this.lists.contentsOf(ids));
    return ids.map((id) => contents.get(id) ?? new AppError('NOT_FOUND', 'Post not found'));
  }
}
