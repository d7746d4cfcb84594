/** Values for the `:name` placeholders of a statement. */
export type Parameters = Readonly<Record<string, string | number | null>>;
