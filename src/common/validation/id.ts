import { createParamDecorator, type ExecutionContext } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import { currentTrail } from '../audit/audit-trail.js';
import { AppError } from '../errors/errors.js';
import { MESSAGES } from '../errors/messages.js';
import { parseInt64 } from './int64.js';

/** Stands for every id that is valid but that no row can have, as ids start at 1. */
export const NO_ROW = 0;

/** What nearly every id looks like. It is a safe integer without the detour over a bigint. */
const SAFE_DIGITS = /^\d{1,15}$/;

/**
 * The id in the path, as a safe integer. It is looked at before the body is (a pipe would come too late).
 *
 * @throws AppError `INVALID_ID` unless it is a signed 64-bit decimal integer.
 */
export const Id = createParamDecorator((name: string | undefined, context: ExecutionContext): number => {
  const { params } = context.switchToHttp().getRequest<FastifyRequest<{ Params: Record<string, string> }>>();
  const parameter = name ?? 'id';
  const id = toId(params[parameter] ?? '');
  if (id === undefined) throw new AppError('INVALID_ID', MESSAGES.INVALID_ID);
  currentTrail()?.noteId(parameter, id);
  return id;
});

/** An id as a safe integer, {@link NO_ROW} where no row can have it; `undefined` for what is no id at all. */
export function toId(text: string): number | undefined {
  if (SAFE_DIGITS.test(text)) return Number(text);
  const id = parseInt64(text);
  if (id === undefined) return undefined;
  const exact = Number(id);
  return exact > NO_ROW && Number.isSafeInteger(exact) ? exact : NO_ROW;
}
