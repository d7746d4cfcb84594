import type { ReactElement } from 'react';

/** A section of an account. */
export interface Section {
  /** The last part of its address. */
  readonly path: string;
  readonly title: string;
  readonly content: ReactElement;
}
