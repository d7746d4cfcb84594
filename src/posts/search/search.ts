import type { Queries } from '../../database/queries.js';
import * as postgres from './search.postgres.js';
import * as sqlite from './search.sqlite.js';
import type { TextMatch } from './text-match.js';

/** Posts whose title or content contains a folded text, to the letter. */
export const containing = (folded: string, { dialect }: Queries): TextMatch =>
  ({ postgres: postgres.containing, sqlite: sqlite.containing })[dialect.name](folded);
