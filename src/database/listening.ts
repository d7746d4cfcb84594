/** Signals between processes through the database. */
export interface Listening {
  /** Whether signals arrive, as far as is known: without them, the listener has to poll. */
  readonly works: boolean;
  close(): Promise<void>;
}

/** For a database with one process. */
export const NO_SIGNALS: Listening = { works: false, close: async () => undefined };
