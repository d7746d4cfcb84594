/** Signals that processes send each other through the database. */
export interface Listening {
  /** Whether signals arrive, as far as is known: without them, one has to look every now and then. */
  readonly works: boolean;
  close(): Promise<void>;
}

/** Where there is no other process. */
export const NO_SIGNALS: Listening = { works: false, close: async () => undefined };
