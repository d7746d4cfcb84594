import { createParamDecorator, type ExecutionContext } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import { AppError } from '../platform/http/errors/errors.js';
import { hasFiniteNumbers, NOT_FINITE, objectFault } from '../platform/http/validation/json-object.js';

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

/**
 * Checks a payload that was sent as a value of GraphQL, which has rounded its numbers to doubles.
 *
 * @returns the payload, `{}` for null, and its JSON text
 * @throws AppError `VALIDATION_ERROR` as {@link Payload}, and for one of more than 64 KiB
 */
export function checkPayload(value: unknown): { readonly payload: object; readonly text: string } {
  const payload = value ?? {};
  const text = JSON.stringify(payload);
  const fault =
    objectFault(payload) ??
    (Buffer.byteLength(text) > PAYLOAD_LIMIT
      ? `must not be larger than ${PAYLOAD_LIMIT / 1024} KiB`
      : undefined) ??
    (hasFiniteNumbers(payload) ? undefined : NOT_FINITE);
  if (fault === undefined) return { payload, text };
  const message = `payload ${fault}`;
  throw new AppError('VALIDATION_ERROR', message, { details: [{ field: 'payload', message }] });
}
