import { defineEvents } from '../platform/changes/index.js';
import { Post, type PostStatus } from './post.entity.js';
import { POSTS_PATH, PostView } from './post.view.js';

export const POST_EVENTS = defineEvents({
  resource: 'post',
  collection: POSTS_PATH,
  changes: ['created', 'updated', 'published', 'unpublished', 'deleted'],
  entity: Post,
  view: PostView,
});

/** What an update includes: a change of the status has its own type. */
export const changeOf = (before: PostStatus, after: PostStatus): 'updated' | 'published' | 'unpublished' =>
  before === after ? 'updated' : after === 'published' ? 'published' : 'unpublished';
