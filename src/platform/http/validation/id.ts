import { createParamDecorator, type ExecutionContext, Injectable, type PipeTransform } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import { AppError, ERRORS } from '../errors/errors.js';

/** Replaces every valid id that no row can have; ids start at 1. */
export const UNKNOWN_ID = 0;

/** The usual form of an id: a safe integer, parsed without a bigint. */
const SAFE_DIGITS = /^\d{1,15}$/;

/**
 * The id in the path, as a safe integer. It is checked before the body (a pipe would run too late).
 *
 * @throws AppError `INVALID_ID` unless it is a signed 64-bit decimal integer.
 */
export const Id = createParamDecorator((name: string | undefined, context: ExecutionContext): number => {
  const { params } = context.switchToHttp().getRequest<FastifyRequest<{ Params: Record<string, string> }>>();
  const id = toId(params[name ?? 'id'] ?? '');
  if (id === undefined) throw new AppError('INVALID_ID', ERRORS.INVALID_ID.message);
  return id;
});

/**
 * The id in an argument of GraphQL: `@Args('id', { type: () => ID }, IdPipe) id: number`. Text that is no id becomes
 * {@link UNKNOWN_ID}, which is not found.
 */
@Injectable()
export class IdPipe implements PipeTransform<string, number> {
  transform(text: string): number {
    return idOrUnknown(text);
  }
}

/** An id as a safe integer; {@link UNKNOWN_ID} for text that is no id, or one that no row can have. */
export const idOrUnknown = (text: string): number => toId(text) ?? UNKNOWN_ID;

/** An id as a safe integer, {@link UNKNOWN_ID} if no row can have it; `undefined` if it is no id. */
function toId(text: string): number | undefined {
  if (SAFE_DIGITS.test(text)) return Number(text);
  const id = parseInt64(text);
  if (id === undefined) return undefined;
  const exact = Number(id);
  return exact > UNKNOWN_ID && Number.isSafeInteger(exact) ? exact : UNKNOWN_ID;
}

const DECIMAL = /^[+-]?\d+$/;
const LEADING_ZEROS = /^([+-]?)0+(?=\d)/;
/** Of a sign and 19 digits. The time of `BigInt` grows faster than the length of its text. */
const MAX_LENGTH = 20;
const MIN = -(2n ** 63n);
const MAX = 2n ** 63n - 1n;

/** A signed 64-bit integer in decimal digits, with an optional sign; `undefined` for anything else. */
export function parseInt64(text: string): bigint | undefined {
  if (!DECIMAL.test(text)) return undefined;
  const digits = text.replace(LEADING_ZEROS, '$1');
  if (digits.length > MAX_LENGTH) return undefined;
  const value = BigInt(digits.startsWith('+') ? digits.slice(1) : digits);
  return value >= MIN && value <= MAX ? value : undefined;
}
