import type { Queries } from '../../database/queries.js';
import * as postgres from './postgres.js';
import * as sqlite from './sqlite.js';

/** The indexes hold every three code points in a row; a shorter text is looked for in each post. */
export const GRAM = 3;

/** A condition on `posts`, and the value of its parameter `:text`. */
export interface TextMatch {
  readonly condition: string;
  readonly text: string;
}

/** Posts whose title or content contains a folded text, to the letter. */
export const containing = (folded: string, { dialect }: Queries): TextMatch =>
  dialect.name === 'sqlite' ? sqlite.containing(folded) : postgres.containing(folded);
