import { createParamDecorator, type ExecutionContext } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import { AppError } from '../platform/http/errors/errors.js';
import { hasStorableTexts } from '../platform/http/validation/text.js';

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
  const fault = faultOf(body);
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
    faultOf(payload) ??
    (Buffer.byteLength(text) > PAYLOAD_LIMIT
      ? `must not be larger than ${PAYLOAD_LIMIT / 1024} KiB`
      : undefined) ??
    (isFinite(payload) ? undefined : 'must not contain numbers beyond those of a double; send them as text');
  if (fault === undefined) return { payload, text };
  const message = `payload ${fault}`;
  throw new AppError('VALIDATION_ERROR', message, { details: [{ field: 'payload', message }] });
}

/** The broken rule, to follow the name of the value. */
function faultOf(value: unknown): string | undefined {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return 'must be a JSON object';
  if (!hasStorableTexts(value)) return 'must not contain NUL or lone surrogates';
  return undefined;
}

/** JSON.stringify would write `null` for an infinite number, such as 1e400. */
function isFinite(value: unknown): boolean {
  if (typeof value === 'number') return Number.isFinite(value);
  return typeof value !== 'object' || value === null || Object.values(value).every(isFinite);
}
