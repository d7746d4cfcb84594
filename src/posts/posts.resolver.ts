import { Args, Context, ID, Mutation, Query, Resolver } from '@nestjs/graphql';
import { WriteAccess } from '../platform/access/index.js';
import { RequestLoader } from '../platform/graphql/loading/request-loader.js';
import { type ConnectionOf, readConnection, searchableCost } from '../platform/graphql/connection.js';
import { expectedVersion } from '../platform/http/responses/if-match.js';
import { IdPipe } from '../platform/http/validation/id.js';
import { PostConnection, PostsArgs, sortedPosts } from './post.connection.js';
import { CreatePostInput, UpdatePostInput } from './post.input.js';
import { type PostNode, PostView } from './post.view.js';
import { keysetOf, PostLists } from './post-lists.js';
import { PostsService } from './posts.service.js';

const IF_MATCH = {
  type: () => String,
  nullable: true,
  description: 'The `etag` that the post must still have; otherwise the error is `PRECONDITION_FAILED`.',
} as const;

@Resolver(() => PostView)
@WriteAccess()
export class PostsResolver {
  private readonly byId = new RequestLoader(async (ids: readonly number[]) => {
    const posts = await this.lists.findByIds(ids);
    const byId = new Map(posts.map((post) => [post.id, post]));
    return ids.map((id) => byId.get(id) ?? null);
  });

  constructor(
    private readonly service: PostsService,
    private readonly lists: PostLists,
  ) {}

  @Query(() => PostView, {
    nullable: true,
    description: 'One post; null when there is none with this id. It does not count as a view.',
  })
  async post(
    @Args('id', { type: () => ID }, IdPipe) id: number,
    @Context() context: object,
  ): Promise<PostNode | null> {
    return this.byId.load(context, id);
  }

  @Query(() => PostConnection, {
    description: 'Posts, by default the newest first.',
    complexity: searchableCost,
  })
  posts(@Args() args: PostsArgs): Promise<ConnectionOf<PostNode>> {
    const list = sortedPosts(args);
    return readConnection(args, keysetOf(list), {
      rows: (page, count) => this.lists.listAfter(list, page, count),
      count: () => this.lists.total(list.filter),
      toNode: (post) => post,
    });
  }

  @Mutation(() => PostView, { description: 'Creates a post.' })
  createPost(@Args('input') input: CreatePostInput): Promise<PostNode> {
    return this.service.create(input);
  }

  @Mutation(() => PostView, { description: 'Updates the given fields; null leaves a field unchanged.' })
  updatePost(
    @Args('id', { type: () => ID }, IdPipe) id: number,
    @Args('input') input: UpdatePostInput,
    @Args('ifMatch', IF_MATCH) ifMatch: string | null | undefined,
  ): Promise<PostNode> {
    return this.service.update(id, input, expectedVersion(ifMatch));
  }

  @Mutation(() => ID, { description: 'Deletes a post, and returns its id.' })
  async deletePost(
    @Args('id', { type: () => ID }, IdPipe) id: number,
    @Args('ifMatch', IF_MATCH) ifMatch: string | null | undefined,
  ): Promise<number> {
    await this.service.delete(id, expectedVersion(ifMatch));
    return id;
  }
}
