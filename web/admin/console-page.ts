import type { ReactElement } from 'react';

/** A page of the console that is no resource. */
export interface ConsolePage {
  readonly path: string;
  readonly title: string;
  readonly icon: ReactElement;
  readonly page: ReactElement;
}
