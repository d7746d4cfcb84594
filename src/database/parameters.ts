/** Values for the `:name` placeholders of a statement. */
export type Parameters = Readonly<Record<string, string | number | null>>;

/** A placeholder, and not a cast (`::`). */
export const PLACEHOLDER = /(?<!:):([a-z]\w*)/gi;
