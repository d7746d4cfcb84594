/** The SQL of posts that differs between the two databases. */
export interface PostSql {
  /**
   * The newest posts of each of `:authors` (a JSON array), `:limit` of each after the first `:offset`. It reads
   * only these from the index of authors; a window function would read all posts of the authors.
   */
  newestByAuthors(columns: string, condition: string): string;
  /** Posts whose title or content contains a folded text, to the letter. */
  containing(folded: string): TextMatch;
}

/** Conditions on `posts`, and the values of their parameters. */
interface TextMatch {
  /** Reads the matches from the index first: for counts, and for pages with few matches. */
  readonly condition: string;
  /** Checks each post in the order of the list: fast for a page with many matches, which is soon full. */
  readonly scanning: string;
  readonly parameters: Readonly<Record<string, string>>;
}

/** The indexes contain every sequence of three code points; for a shorter text, every post is checked. */
export const GRAM = 3;
