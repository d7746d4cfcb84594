import { Users1763700000000 } from './1763700000000-users.js';
import { Posts1763700000001 } from './1763700000001-posts.js';
import { PostTotals1763700000002 } from './1763700000002-post-totals/index.js';
import { PostSearch1763700000003 } from './1763700000003-post-search/index.js';

/** Every migration, in the order they run. */
export const migrations = [
  Users1763700000000,
  Posts1763700000001,
  PostTotals1763700000002,
  PostSearch1763700000003,
];
