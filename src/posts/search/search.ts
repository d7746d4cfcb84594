import type { Queries } from '../../database/queries.js';
import * as postgres from './postgres.js';
import * as sqlite from './sqlite.js';
import type { TextMatch } from './text-match.js';

/** Posts whose title or content contains a folded text, to the letter. */
export const containing = (folded: string, { dialect }: Queries): TextMatch =>
  dialect.name === 'sqlite' ? sqlite.containing(folded) : postgres.containing(folded);
