import { createParamDecorator, type ExecutionContext } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import { AppError } from '../platform/http/errors/errors.js';
import { objectFault } from '../platform/http/validation/json-object.js';

/** 64 KiB: the largest payload, in bytes. */
export const PAYLOAD_LIMIT = 64 * 1024;

/**
 * The body as JSON text, unchanged; `{}` without one.
 *
 * @throws AppError `VALIDATION_ERROR` unless it is a JSON object whose texts can be stored
 */
export const Payload = createParamDecorator((_: unknown, context: ExecutionContext): string => {
  const request = context.switchToHttp().getRequest<FastifyRequest>();
  const { body = {} } = request;
  const fault = objectFault(body);
  if (fault !== undefined) throw new AppError('VALIDATION_ERROR', `The body ${fault}`);
  return request.context.bodyText ?? '{}';
});
