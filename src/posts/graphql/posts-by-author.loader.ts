import { Injectable } from '@nestjs/common';
import { RequestLoader } from '../../common/loading/request-loader.js';
import type { Range } from '../../common/pagination/page-args.js';
import { PostsService } from '../posts.service.js';
import { type PostType, toPostType } from './post.type.js';

interface Wanted {
  readonly authorId: number;
  readonly range: Range;
}

const rangeKey = ({ range: { limit, offset } }: Wanted): string => `${limit}+${offset}`;

/** The posts of many users in one statement; in one for each page where a request asks for different ones. */
@Injectable()
export class PostsByAuthorLoader {
  private readonly loader = new RequestLoader(
    (wanted: readonly Wanted[]) => this.loadBatch(wanted),
    (key) => `${key.authorId} ${rangeKey(key)}`,
  );

  constructor(private readonly posts: PostsService) {}

  load(context: object, authorId: number, range: Range): Promise<PostType[]> {
    return this.loader.load(context, { authorId, range });
  }

  private async loadBatch(wanted: readonly Wanted[]): Promise<PostType[][]> {
    const found = new Map<Wanted, PostType[]>();
    for (const keys of Object.values(Object.groupBy(wanted, rangeKey))) {
      const authorIds = keys!.map(({ authorId }) => authorId);
      const posts = await this.posts.newestByAuthors(authorIds, keys![0]!.range);
      const byAuthor = Object.groupBy(posts.map(toPostType), ({ authorId }) => authorId);
      for (const key of keys!) found.set(key, byAuthor[key.authorId] ?? []);
    }
    return wanted.map((key) => found.get(key)!);
  }
}
