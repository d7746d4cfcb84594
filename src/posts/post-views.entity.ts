import { Entity, Index, JoinColumn, OneToOne, PrimaryColumn } from 'typeorm';
import { IntegerColumn, TextColumn } from '../platform/database/columns.js';
import { Post, type PostStatus } from './post.entity.js';

/**
 * How often a post was read by its id. Triggers create its row with the post, and copy the status, for
 * lists of a status in this order.
 */
@Entity('post_views')
@Index('post_views_views', ['views', 'postId'])
@Index('post_views_status_views', ['postStatus', 'views', 'postId'])
export class PostViews {
  @PrimaryColumn('int8', { name: 'post_id' })
  postId!: number;

  @OneToOne(() => Post, { onDelete: 'CASCADE' })
  @JoinColumn({ name: 'post_id', foreignKeyConstraintName: 'post_views_post_id_fkey' })
  post?: Post;

  @TextColumn('post_status')
  postStatus!: PostStatus;

  @IntegerColumn('views')
  views!: number;
}
