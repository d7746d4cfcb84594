import { Context, Parent, ResolveField, Resolver } from '@nestjs/graphql';
import { RequestLoader } from '../platform/graphql/loading/request-loader.js';
import { TextLoader } from '../platform/graphql/loading/text-loader.js';
import { toUserView, UserView } from '../users/user.view.js';
import { UsersService } from '../users/users.service.js';
import { entityTag } from '../platform/http/responses/entity-tag.js';
import { type PostNode, PostView } from './post.view.js';
import { PostLists } from './post-lists.js';

/** The fields of posts that are loaded or computed only if they are selected. */
@Resolver(() => PostView)
export class PostFieldsResolver {
  private readonly authors = new RequestLoader(async (ids: readonly number[]) => {
    const users = await this.users.findByIds(ids);
    const byId = new Map(users.map((user) => [user.id, toUserView(user)]));
    return ids.map((id) => byId.get(id) ?? null);
  });

  private readonly contents = new TextLoader((ids) => this.lists.contentsOf(ids), 'Post');

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
  async content(@Parent() post: PostNode, @Context() context: object): Promise<string> {
    if ('content_bytes' in post) {
      return this.contents.load(context, { id: post.id, bytes: post.content_bytes });
    }
    await this.contents.countLoaded(context, post.content);
    return post.content;
  }

  @ResolveField(() => String, {
    description: 'Identifies the version of the post, as the `ETag` of REST does. For `ifMatch`.',
  })
  etag(@Parent() post: PostNode): string {
    return entityTag(post);
  }
}
