import { AppError, ERRORS } from '../errors/errors.js';

/**
 * A row with a version, which grows with every write; see `migrations/row-versions.ts`.
 * The time distinguishes rows of two databases that have the same version, such as before and after a restore.
 */
export type Versioned = { readonly version: number } & (
  { readonly updated_at: string } | { readonly updatedAt: Date } | { readonly createdAt: Date }
);

/** The states of a resource that a change applies to, such as those of an `If-Match`. */
export interface ExpectedVersion {
  /**
   * The version that the statement of the change must find, so that no other change happens in between;
   * `undefined` if any version will do.
   *
   * @param read reads the row, or throws if there is none
   * @throws AppError `PRECONDITION_FAILED`
   */
  versionOf(read: () => Promise<Versioned>): Promise<number | undefined>;
}

/** For a change that did not find the expected version. */
export const preconditionFailed = (): AppError =>
  new AppError('PRECONDITION_FAILED', ERRORS.PRECONDITION_FAILED.message);
