import type { AppError, ErrorCode, FieldError } from './errors.js';

export const PROBLEM_TYPE = 'application/problem+json';

/** An error in the format of problem details (RFC 9457). */
export interface Problem {
  /** The page that describes the code. */
  readonly type: string;
  readonly title: string;
  readonly status: number;
  readonly detail: string;
  /** The id of the request. */
  readonly instance: string;
  readonly code: ErrorCode;
  readonly errors?: readonly FieldError[];
}

/** @param publicUrl the address of the service for clients */
export function toProblem(
  { code, status, message, details }: AppError,
  requestId: string,
  publicUrl: string,
): Problem {
  return {
    type: `${publicUrl}/guides/errors#${code.toLowerCase()}`,
    title: titleOf(code),
    status,
    detail: message,
    instance: `urn:uuid:${requestId}`,
    code,
    ...(details.length > 0 && { errors: details }),
  };
}

/** `INVALID_ID` as "Invalid id". */
function titleOf(code: ErrorCode): string {
  const words = code.toLowerCase().replaceAll('_', ' ');
  return words.charAt(0).toUpperCase() + words.slice(1);
}

/** Whether an `Accept` header has problem details, and does not prefer plain JSON (RFC 9110, section 12.5.1). */
export function wantsProblem(accept: string | undefined): boolean {
  if (!accept?.toLowerCase().includes(PROBLEM_TYPE)) return false;
  const wanted = qualityOf(accept, PROBLEM_TYPE);
  return wanted > 0 && wanted >= qualityOf(accept, 'application/json');
}

/** From 0 to 1; 0 if the type is absent. */
function qualityOf(accept: string, type: string): number {
  for (const range of accept.toLowerCase().split(',')) {
    const [name, ...parameters] = range.split(';').map((part) => part.trim());
    if (name !== type) continue;
    const quality = parameters.find((parameter) => parameter.startsWith('q='));
    return quality === undefined ? 1 : Number(quality.slice(2)) || 0;
  }
  return 0;
}
