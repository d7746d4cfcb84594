import type { Type } from '@nestjs/common';
import { AppError, type ErrorCode, ERRORS, type FieldError } from '../common/errors/errors.js';
import { MESSAGES } from '../common/openapi/messages.js';
import { checkInput } from '../common/validation/input.pipe.js';
import type { Handler } from './handlers.js';

export interface Refusal {
  readonly code: ErrorCode;
  readonly message: string;
  readonly details?: readonly FieldError[];
}

/** How a handler is called. */
export interface Call {
  /** In lower case. */
  readonly method: string;
  readonly hasBody: boolean;
  /** The class of the body, where it has one. */
  readonly input: Type | undefined;
  readonly hasId: boolean;
}

const SAFE = new Set(['get', 'head']);

/** Whether callers may or must say who they are. */
export function securityOf(
  { access }: Handler,
  { method }: Pick<Call, 'method'>,
): 'none' | 'by setting' | 'required' {
  if (access === 'public' || (access === 'write' && SAFE.has(method))) return 'none';
  return access === 'write' ? 'by setting' : 'required';
}

/** Every refusal of a handler: what it says itself, and what follows from how it is called. */
export async function refusalsOf(handler: Handler, call: Call): Promise<Refusal[]> {
  const { method, hasBody, hasId } = call;
  const codes: ErrorCode[] = [];
  if (hasId) codes.push('INVALID_ID');
  if (hasBody) codes.push('PAYLOAD_TOO_LARGE', 'UNSUPPORTED_MEDIA_TYPE');
  if (hasBody && !handler.anyContentType) codes.push('MALFORMED_REQUEST');
  if (handler.idempotencyKey === 'required') codes.push('MISSING_IDEMPOTENCY_KEY');
  if (handler.idempotencyKey !== 'none')
    codes.push('INVALID_IDEMPOTENCY_KEY', 'IDEMPOTENCY_KEY_IN_USE', 'IDEMPOTENCY_KEY_REUSED');
  const security = securityOf(handler, call);
  if (security !== 'none') codes.push('UNAUTHENTICATED', 'TOKEN_NOT_VALID');
  if (security !== 'none' && !SAFE.has(method)) codes.push('CSRF_FAILED');
  if (security === 'by setting' || handler.access === 'staff') codes.push('FORBIDDEN');
  codes.push('INTERNAL_ERROR', 'SERVICE_UNAVAILABLE');

  const general = codes
    .filter((code) => !(code in handler.refusals))
    .map((code): Refusal => ({ code, message: messageOf(code, handler) }));
  const own = Object.entries(handler.refusals).map(([code, message]): Refusal => ({
    code: code as ErrorCode,
    message,
  }));
  return [...own, ...(await validationRefusal(handler, call)), ...general].toSorted(
    (a, b) => ERRORS[a.code].status - ERRORS[b.code].status,
  );
}

function messageOf(code: ErrorCode, { anyContentType }: Handler): string {
  const isCompressed = code === 'UNSUPPORTED_MEDIA_TYPE' && anyContentType;
  return isCompressed ? 'The body must not be compressed' : MESSAGES[code as keyof typeof MESSAGES];
}

/** What comes of no fields at all, by the very code that checks them. */
async function validationRefusal(
  { refusals, details: hasDetails }: Handler,
  { input }: Call,
): Promise<Refusal[]> {
  if (!input || 'VALIDATION_ERROR' in refusals) return [];
  try {
    await checkInput(input, []);
  } catch (error) {
    const { code, message, details } = error as AppError;
    return [{ code, message, ...(hasDetails && details.length > 0 && { details }) }];
  }
  return [];
}
