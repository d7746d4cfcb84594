import type { StatementParameters } from '../platform/database/statement.js';
import { caseFold } from '../platform/database/case-fold.js';
import type { CreatePostInput } from './post.input.js';
import { POST_COLUMNS, type PostView } from './post.view.js';

/** The columns of the view that clients do not write. */
const SET_BY_SERVICE = ['id', 'author_id', 'created_at', 'updated_at'] as const;
const isSetByService = new Set<string>(SET_BY_SERVICE);

type PostField = Exclude<keyof PostView, (typeof SET_BY_SERVICE)[number]>;

/** The columns that clients write: every other one of the view. The compiler requires them of the input. */
const POST_FIELDS = POST_COLUMNS.filter((name) => !isSetByService.has(name)) as PostField[];

export type PostFields = Pick<CreatePostInput, PostField>;

/** Title and content in the form that the search compares. */
const FOLDED = { title_folded: 'title', content_folded: 'content' } as const;

/** The columns that an update sets. */
export const UPDATED_COLUMNS: readonly string[] = [...POST_FIELDS, ...Object.keys(FOLDED)];

/** The columns that an insertion sets. */
export const INSERTED_POST_COLUMNS: readonly string[] = [
  ...UPDATED_COLUMNS,
  ...SET_BY_SERVICE.filter((name) => name !== 'id'),
];

/** The values of `UPDATED_COLUMNS`; null for a field that is absent. */
export function valuesOf(fields: { [Field in PostField]?: PostFields[Field] | null }): StatementParameters {
  const values: Record<string, string | number | null> = {};
  for (const name of POST_FIELDS) values[name] = fields[name] ?? null;
  for (const [name, field] of Object.entries(FOLDED)) {
    const text = fields[field];
    values[name] = text == null ? null : caseFold(text);
  }
  return values;
}
