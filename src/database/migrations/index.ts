import { Users1763700000000 } from './1763700000000-users.js';
import { Posts1763700000001 } from './1763700000001-posts.js';

/** Every migration, in the order they run. */
export const migrations = [Users1763700000000, Posts1763700000001];
