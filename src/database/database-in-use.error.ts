/** The embedded database already has a service. */
export class DatabaseInUseError extends Error {
  override readonly name = 'DatabaseInUseError';
}
