import { createParamDecorator, type ExecutionContext } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import { AppError } from '../errors/errors.js';
import { type ExpectedVersion, preconditionFailed, type Versioned } from './expected-version.js';
import { entityTag, marksHandler, parseTags } from './entity-tag.js';

/** The tags of an `If-Match` (RFC 9110, section 13.1.1). */
class IfMatch implements ExpectedVersion {
  /** @param formats of the representations, as in `entityTag`; the tag of each of them matches */
  constructor(
    private readonly tags: '*' | readonly string[],
    private readonly formats: readonly string[],
  ) {}

  async versionOf(read: () => Promise<Versioned>): Promise<number | undefined> {
    const row = await read();
    const { tags, formats } = this;
    if (tags === '*') return undefined;
    if (formats.some((format) => tags.includes(entityTag(row, format)))) return row.version;
    throw tags.some((tag) => tag.startsWith('W/')) ? weakTag() : preconditionFailed();
  }
}

/** Of all headers of a request, in bytes. GraphQL has the value in its body, which may be longer. */
const MAX_LENGTH = 16 * 1024;

/**
 * The value of an `If-Match` as an {@link ExpectedVersion}; `undefined` if it is absent or null.
 *
 * @param formats of the resource, as in `entityTag`: the tag of each of them matches
 * @throws AppError `MALFORMED_REQUEST` for a value that is not a list of entity tags
 */
export function expectedVersion(
  ifMatch: string | null | undefined,
  formats: readonly string[] = [''],
): ExpectedVersion | undefined {
  if (ifMatch == null) return undefined;
  const tags = ifMatch.length > MAX_LENGTH ? undefined : parseTags(ifMatch);
  if (!tags) throw new AppError('MALFORMED_REQUEST', INVALID_IF_MATCH);
  return new IfMatch(tags, formats);
}

/** Metadata key: the handler takes an `If-Match`. */
export const HAS_PRECONDITION = Symbol('has precondition');

/**
 * The `If-Match` of a `PATCH`, `PUT` or `DELETE` as an {@link ExpectedVersion}; `undefined` without the header. It is
 * checked before the body. With the formats of a resource, as in `entityTag`, the tag of each of them matches.
 *
 * @throws AppError `MALFORMED_REQUEST` for a header that is not a list of entity tags
 */
export const Precondition = createParamDecorator(
  (formats: readonly string[] | undefined, context: ExecutionContext) => {
    const header = context.switchToHttp().getRequest<FastifyRequest>().headers['if-match'];
    try {
      return expectedVersion(header, formats);
    } catch (error) {
      // If it were thrown here, it would precede the error of the id in the path.
      return Promise.reject(error);
    }
  },
  [marksHandler(HAS_PRECONDITION)],
);

/** A client that reads the resource again gets the same weak tag. */
const weakTag = (): AppError =>
  new AppError(
    'PRECONDITION_FAILED',
    'If-Match has a weak tag (W/"…"), which never matches. A proxy that compresses responses makes tags weak: let it not compress those with a tag; see “Caching and lost updates” in the guide “HTTP”',
  );

export const INVALID_IF_MATCH = 'If-Match must be * or a list of entity tags, each in double quotes';
