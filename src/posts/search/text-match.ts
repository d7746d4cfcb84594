/** A condition on `posts`, and the value of its parameter `:text`. */
export interface TextMatch {
  readonly condition: string;
  readonly text: string;
}

/** The indexes hold every three code points in a row; a shorter text is looked for in each post. */
export const GRAM = 3;
