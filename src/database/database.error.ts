/** The database cannot be used; the message says what an operator must do. */
export class DatabaseError extends Error {
  override readonly name = 'DatabaseError';
}
