import type { Type } from '@nestjs/common';
import { OUT_OF_SCOPE } from '../access/index.js';
import { INVALID_IF_MATCH } from '../http/responses/if-match.js';
import {
  AppError,
  type ErrorCode,
  ERRORS,
  type FieldError,
  type CodeWithMessage,
} from '../http/errors/errors.js';
import { checkInput } from '../http/validation/input.pipe.js';
import type { Handler } from './handlers.js';
import { SAFE, securityOf } from './security.js';

export interface DeclaredError {
  readonly code: ErrorCode;
  readonly message: string;
  readonly details?: readonly FieldError[];
}

/** The properties of an operation. */
export interface Call {
  /** In lower case. */
  readonly method: string;
  readonly hasBody: boolean;
  /** The class of the body, where it has one. */
  readonly input: Type | undefined;
  /** The documented parameters of its path and its query. */
  readonly parameters: readonly string[];
  readonly hasId: boolean;
  /** Whether `RATE_LIMIT` counts it. */
  readonly isLimited: boolean;
}

/** The general rate limit, and the access, have other messages than what a handler limits or refuses itself. */
const ALWAYS = new Set<ErrorCode>(['RATE_LIMITED', 'FORBIDDEN']);

/** Every error of a handler: those that it declares, and those that follow from its parameters and access. */
export async function errorsOf(handler: Handler, call: Call): Promise<DeclaredError[]> {
  const { method, hasBody, hasId } = call;
  const codes: ErrorCode[] = [];
  if (hasId) codes.push('INVALID_ID');
  // A body is also read where none is expected.
  if (!SAFE.has(method)) codes.push('PAYLOAD_TOO_LARGE', 'UNSUPPORTED_MEDIA_TYPE');
  // Every path rejects what is no valid HTTP; an operation lists only what its own rules cause.
  const readsStrictly = hasBody && !handler.anyContentType;
  if (readsStrictly || handler.hasPrecondition) codes.push('MALFORMED_REQUEST');
  if (call.isLimited) codes.push('RATE_LIMITED');
  if (handler.hasPrecondition) codes.push('PRECONDITION_FAILED');
  if (handler.idempotencyKey === 'required') codes.push('MISSING_IDEMPOTENCY_KEY');
  if (handler.idempotencyKey !== 'none')
    codes.push('INVALID_IDEMPOTENCY_KEY', 'IDEMPOTENCY_KEY_IN_USE', 'IDEMPOTENCY_KEY_REUSED');
  const security = securityOf(handler, method);
  const isOptional = handler.access === 'optional' || handler.access === 'public with account';
  if (security !== 'none' && !isOptional) codes.push('UNAUTHENTICATED');
  if (security !== 'none') codes.push('TOKEN_NOT_VALID');
  if (security !== 'none' && !SAFE.has(method)) codes.push('CSRF_FAILED');
  const isOwnRead = handler.access === 'owner' && SAFE.has(method);
  const isForSome = handler.access === 'staff' || handler.access === 'superuser';
  if ((security === 'optional' && !isOwnRead && !isOptional) || isForSome) codes.push('FORBIDDEN');
  const rejectsKeys = security !== 'none' && (handler.refusesApiKeys || !SAFE.has(method));
  codes.push('INTERNAL_ERROR', 'SERVICE_UNAVAILABLE');

  const general = codes
    .filter((code) => ALWAYS.has(code) || !(code in handler.errors))
    .map((code): DeclaredError => ({ code, message: messageOf(code, handler, readsStrictly) }));
  const own = Object.entries(handler.errors).flatMap(([code, messages]) =>
    messages.map((message): DeclaredError => ({ code: code as ErrorCode, message })),
  );
  const ofApiKeys: DeclaredError[] = rejectsKeys ? [{ code: 'FORBIDDEN', message: OUT_OF_SCOPE }] : [];
  return [...own, ...(await validationErrors(handler, call)), ...general, ...ofApiKeys].toSorted(
    (a, b) => ERRORS[a.code].status - ERRORS[b.code].status,
  );
}

function messageOf(code: ErrorCode, handler: Handler, readsStrictly: boolean): string {
  if (code === 'MALFORMED_REQUEST' && !readsStrictly) return INVALID_IF_MATCH;
  const isCompressed = code === 'UNSUPPORTED_MEDIA_TYPE' && handler.anyContentType;
  return isCompressed ? 'The body must not be compressed' : ERRORS[code as CodeWithMessage].message;
}

/**
 * The validation errors of an empty body, and of a class of the query or the path whose parameters are all wrong, from
 * the code that validates.
 */
async function validationErrors(handler: Handler, { input, parameters }: Call): Promise<DeclaredError[]> {
  if ('VALIDATION_ERROR' in handler.errors) return [];
  const wrong = Object.fromEntries(parameters.map((name) => [name, '?']));
  const classes = parameters.length === 0 ? [] : handler.parameters.filter((each) => each !== input);
  const errors = await Promise.all([
    ...(input ? [faultOf(input, [])] : []),
    ...classes.map((each) => faultOf(each, wrong)),
  ]);
  return errors
    .filter((error) => error instanceof AppError)
    .map(({ code, message, details }) => ({
      code,
      message,
      ...(handler.details && details.length > 0 && { details }),
    }));
}

const faultOf = (type: Type, value: unknown): Promise<unknown> =>
  checkInput(type, value).catch((error: unknown) => error);
