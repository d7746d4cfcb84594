import type { Queries } from '../../database/queries.js';
import * as postgres from './by-author.postgres.js';
import * as sqlite from './by-author.sqlite.js';

/**
 * The newest posts of each of `:authors` (a JSON array), `:limit` of each after the first `:offset`. It reads
 * only these from the index of authors; a window function would read all posts of the authors.
 *
 * @param slow whether `Queries.search` runs it
 */
export const newestByAuthors = ({ dialect }: Queries, slow: boolean): string =>
  ({ postgres: postgres.newestByAuthors, sqlite: sqlite.newestByAuthors })[dialect.name](
    slow ? dialect.withinDeadline : 'TRUE',
  );
