import { createParamDecorator, type ExecutionContext } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import { AppError } from '../common/errors/errors.js';
import { bodyTextOf } from '../common/http/json-body.js';
import { isStorable } from '../common/validation/text.js';

/**
 * The body as JSON text, unchanged; `{}` without one.
 *
 * @throws AppError `VALIDATION_ERROR` unless it is a JSON object whose texts can be stored
 */
export const Payload = createParamDecorator((_: unknown, context: ExecutionContext): string => {
  const request = context.switchToHttp().getRequest<FastifyRequest>();
  const { body = {} } = request;
  if (typeof body !== 'object' || body === null || Array.isArray(body)) {
    throw new AppError('VALIDATION_ERROR', 'The body must be a JSON object');
  }
  if (!hasStorableTexts(body)) {
    throw new AppError('VALIDATION_ERROR', 'The body must not contain NUL or lone surrogates');
  }
  return bodyTextOf(request) ?? '{}';
});

function hasStorableTexts(value: unknown): boolean {
  if (typeof value === 'string') return isStorable(value);
  if (typeof value !== 'object' || value === null) return true;
  return Object.entries(value).every(([name, member]) => isStorable(name) && hasStorableTexts(member));
}
