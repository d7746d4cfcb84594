import { Entity, Index, JoinColumn, ManyToOne, VersionColumn } from 'typeorm';
import {
  HiddenColumn,
  IdColumn,
  IntegerColumn,
  TextColumn,
  TimestampColumn,
} from '../platform/database/columns.js';
import { User } from '../users/user.entity.js';

export const POST_STATUSES = ['draft', 'published'] as const;
export type PostStatus = (typeof POST_STATUSES)[number];

@Entity('posts')
@Index('posts_created_at', ['createdAt', 'id'])
@Index('posts_status_created_at', ['status', 'createdAt', 'id'])
@Index('posts_author_created_at', ['authorId', 'createdAt', 'id'])
@Index('posts_title', ['title', 'id'])
@Index('posts_status_title', ['status', 'title', 'id'])
// Created by the migrations, because TypeORM cannot describe them.
@Index('posts_title_search', { synchronize: false })
@Index('posts_content_search', { synchronize: false })
@Index('posts_large', { synchronize: false })
export class Post {
  @IdColumn()
  id!: number;

  @TextColumn('title')
  title!: string;

  @TextColumn('content')
  content!: string;

  @IntegerColumn('author_id')
  authorId!: number;

  @ManyToOne(() => User, { nullable: false })
  @JoinColumn({ name: 'author_id', foreignKeyConstraintName: 'posts_author_id_fkey' })
  author?: User;

  @TextColumn('status')
  status!: PostStatus;

  @TimestampColumn('created_at')
  createdAt!: Date;

  @TimestampColumn('updated_at')
  updatedAt!: Date;

  /** Grows with every write, see `migrations/row-versions.ts`. */
  @VersionColumn({ default: 1 })
  version!: number;

  /** Title and content in the form that the search compares; see `case-fold.ts`. */
  @HiddenColumn('title_folded')
  titleFolded?: string;

  @HiddenColumn('content_folded')
  contentFolded?: string;
}
