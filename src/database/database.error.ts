/** The database cannot be used as it is, whatever is tried; the message says what an operator has to mend. */
export class DatabaseError extends Error {
  override readonly name = 'DatabaseError';
}
