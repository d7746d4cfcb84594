import { Injectable } from '@nestjs/common';
import { RequestLoader } from '../common/loading/request-loader.js';
import { type Dated, withDates } from '../common/loading/with-dates.js';
import { toUserView, type UserView } from '../users/user.view.js';
import { UsersService } from '../users/users.service.js';
import type { PostRow, PostSummary } from './post.view.js';

type Author = Dated<UserView> | null;

/** A post for the fields of GraphQL, which load its content where it is missing. */
export type PostNode = (Dated<PostSummary> | Dated<PostRow>) & { readonly author: Promise<Author> };

/**
 * The posts of GraphQL. Their author is a property that is loaded when it is read, because lists select it often: a
 * resolver of Nest for each post, with its guards and filters, would take as long as the rest of the list.
 */
@Injectable()
export class PostNodes {
  private readonly authors = new RequestLoader(async (ids: readonly number[]): Promise<Author[]> => {
    const users = await this.users.findByIds(ids);
    const byId = new Map(users.map((user) => [user.id, withDates(toUserView(user))]));
    return ids.map((id) => byId.get(id) ?? null);
  });

  constructor(private readonly users: UsersService) {}

  /** @param context of the request */
  of(post: PostSummary | PostRow, context: object): PostNode {
    const { authors } = this;
    const { author_id: authorId } = post;
    return Object.defineProperty(withDates(post), 'author', {
      get: () => authors.load(context, authorId),
    }) as PostNode;
  }
}
