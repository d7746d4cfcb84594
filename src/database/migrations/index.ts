import { Users1763700000000 } from './1763700000000-users.js';
import { Posts1763700000001 } from './1763700000001-posts.js';
import { PostTotals1763700000002 } from './1763700000002-post-totals/index.js';
import { PostSearch1763700000003 } from './1763700000003-post-search/index.js';
import { Accounts1763700000010 } from './1763700000010-accounts.js';
import { Orders1763700000020 } from './1763700000020-orders.js';
import { IdempotencyRecords1763700000021 } from './1763700000021-idempotency-records.js';
import { SessionSecrets1763700000030 } from './1763700000030-session-secrets.js';
import { SocialLogin1763700000031 } from './1763700000031-social-login.js';

/** Every migration, in the order they run. */
export const migrations = [
  Users1763700000000,
  Posts1763700000001,
  PostTotals1763700000002,
  PostSearch1763700000003,
  Accounts1763700000010,
  Orders1763700000020,
  IdempotencyRecords1763700000021,
  SessionSecrets1763700000030,
  SocialLogin1763700000031,
];
