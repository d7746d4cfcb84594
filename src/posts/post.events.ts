import { defineEvents } from '../events/index.js';
import type { PostStatus } from './post.entity.js';

export const POST_EVENTS = defineEvents({
  resource: 'post',
  collection: '/v1/posts',
  changes: ['created', 'updated', 'published', 'unpublished', 'deleted'],
  columns: {
    id: 'value',
    title: 'value',
    content: 'value',
    author_id: 'value',
    status: 'value',
    created_at: 'moment',
    updated_at: 'moment',
  },
});

/** What an update includes: a change of the status has its own type. */
export const changeOf = (before: PostStatus, after: PostStatus): 'updated' | 'published' | 'unpublished' =>
  before === after ? 'updated' : after === 'published' ? 'published' : 'unpublished';
