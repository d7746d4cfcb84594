/** Conditions on `posts`, and the values of their parameters. */
export interface TextMatch {
  /** Finds the matches first, by the index: for counting them, and for a page of few. */
  readonly condition: string;
  /** Looks into post after post: for a page of many, which is full before long. */
  readonly walking: string;
  readonly parameters: Readonly<Record<string, string>>;
}

/** The indexes hold every three code points in a row; a shorter text is looked for in each post. */
export const GRAM = 3;
