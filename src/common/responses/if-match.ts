import { createParamDecorator, type ExecutionContext } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import { AppError } from '../errors/errors.js';
import { MESSAGES } from '../errors/messages.js';
import { entityTag, marksHandler, parseTags, type Versioned } from './entity-tag.js';

/** The states of a resource that a change applies to (RFC 9110, section 13.1.1). */
export class IfMatch {
  constructor(private readonly tags: '*' | readonly string[]) {}

  /**
   * The version that the statement of the change must find, so that no other change happens in between;
   * `undefined` if any version will do.
   *
   * @param read reads the row, or throws if there is none
   * @param formats of its representations, as in `entityTag`; the tag of each of them matches
   * @throws AppError `PRECONDITION_FAILED`
   */
  async versionOf(
    read: () => Promise<Versioned>,
    formats: readonly string[] = [''],
  ): Promise<number | undefined> {
    const row = await read();
    const { tags } = this;
    if (tags === '*') return undefined;
    if (!formats.some((format) => tags.includes(entityTag(row, format)))) throw preconditionFailed();
    return row.version;
  }
}

/** For a change that did not find the required version. */
export const preconditionFailed = (): AppError =>
  new AppError('PRECONDITION_FAILED', MESSAGES.PRECONDITION_FAILED);

/** Metadata key: the handler takes an `If-Match`. */
export const HAS_PRECONDITION = Symbol('has precondition');

/**
 * The {@link IfMatch} of a `PATCH`, `PUT` or `DELETE`; `undefined` without the header. It is checked before the body.
 *
 * @throws AppError `MALFORMED_REQUEST` for a header that is not a list of entity tags
 */
export const Precondition = createParamDecorator(
  (_: unknown, context: ExecutionContext) => {
    const header = context.switchToHttp().getRequest<FastifyRequest>().headers['if-match'];
    if (header === undefined) return undefined;
    const tags = parseTags(header);
    if (tags) return new IfMatch(tags);
    // If it were thrown here, it would precede the error of the id in the path.
    return Promise.reject(new AppError('MALFORMED_REQUEST', INVALID_IF_MATCH));
  },
  [marksHandler(HAS_PRECONDITION)],
);

export const INVALID_IF_MATCH = 'If-Match must be * or a list of entity tags, each in double quotes';
