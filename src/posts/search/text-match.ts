/** Conditions on `posts`, and the values of their parameters. */
export interface TextMatch {
  /** Reads the matches from the index first: for counts, and for pages with few matches. */
  readonly condition: string;
  /** Checks each post in the order of the list: fast for a page with many matches, which is soon full. */
  readonly scanning: string;
  readonly parameters: Readonly<Record<string, string>>;
}

/** The indexes contain every sequence of three code points; for a shorter text, every post is checked. */
export const GRAM = 3;
