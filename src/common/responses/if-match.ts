import { createParamDecorator, type ExecutionContext } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import { AppError } from '../errors/errors.js';
import { type ExpectedVersion, preconditionFailed, type Versioned } from '../ports/expected-version.js';
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
    if (!formats.some((format) => tags.includes(entityTag(row, format)))) throw preconditionFailed();
    return row.version;
  }
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
    if (header === undefined) return undefined;
    const tags = parseTags(header);
    if (tags) return new IfMatch(tags, formats ?? ['']);
    // If it were thrown here, it would precede the error of the id in the path.
    return Promise.reject(new AppError('MALFORMED_REQUEST', INVALID_IF_MATCH));
  },
  [marksHandler(HAS_PRECONDITION)],
);

export const INVALID_IF_MATCH = 'If-Match must be * or a list of entity tags, each in double quotes';
