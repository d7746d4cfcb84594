import { afterAll, expect } from '@jest/globals';
import { type ErrorCode, ERRORS } from '../../src/platform/http/errors/errors.js';
import type { Reply } from './api.js';
import { killCommands } from './command.js';
import { killServices } from './service.js';

const retriable = (code: ErrorCode) =>
  [429, 503].includes(ERRORS[code].status) || code === 'IDEMPOTENCY_KEY_IN_USE';

/** RFC 6750, section 3.1. */
const challengeOf = (code: ErrorCode) =>
  code === 'TOKEN_NOT_VALID' ? 'Bearer error="invalid_token"' : 'Bearer';

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

afterAll(() => {
  killServices();
  killCommands();
});

expect.extend({
  toHaveStatus(reply: Reply, status: number) {
    return {
      pass: reply.status === status,
      message: () => `expected status ${status}, received ${reply.status}: ${reply.text}`,
    };
  },

  /**
   * Checks the whole error envelope: status, request id, content type, and no fields other than code, message and
   * details.
   */
  toBeError(reply: Reply, code: ErrorCode, fields?: readonly string[]) {
    const { error, ...rest } = (reply.body ?? {}) as { error?: Record<string, any> };
    const { code: actual, message, details, ...more } = error ?? {};
    const faults = [
      reply.status !== ERRORS[code].status && `status ${reply.status}`,
      actual !== code && `code ${actual}`,
      (typeof message !== 'string' || message === '') && 'no message',
      Object.keys(rest).length > 0 && `more in the body: ${Object.keys(rest).join()}`,
      Object.keys(more).length > 0 && `more in the error: ${Object.keys(more).join()}`,
      !UUID.test(reply.headers['x-request-id'] ?? '') && `X-Request-ID ${reply.headers['x-request-id']}`,
      !reply.headers['content-type']?.startsWith('application/json') && 'content type',
      details !== undefined && (!Array.isArray(details) || details.length === 0) && 'empty details',
      fields &&
        JSON.stringify(details?.map((d: any) => d.field)) !== JSON.stringify(fields) &&
        'other details',
      ERRORS[code].status === 401 &&
        reply.headers['www-authenticate'] !== challengeOf(code) &&
        'WWW-Authenticate',
      retriable(code) && !reply.headers['retry-after'] && 'no Retry-After',
    ].filter(Boolean);
    return {
      pass: faults.length === 0,
      message: () => `expected the error ${code}, but: ${faults.join(', ')}\n${reply.text}`,
    };
  },

  /** Checks that a value is a later timestamp in RFC 3339 format, in UTC with milliseconds. */
  laterThan(actual: unknown, earlier: string) {
    const isTimestamp = typeof actual === 'string' && /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/.test(actual);
    return {
      pass: isTimestamp && actual > earlier,
      message: () => `expected ${String(actual)} to be a timestamp later than ${earlier}`,
    };
  },
});

declare module 'expect' {
  interface Matchers<R> {
    toHaveStatus(status: number): R;
    toBeError(code: ErrorCode, fields?: readonly string[]): R;
  }
  interface AsymmetricMatchers {
    laterThan(earlier: string): void;
  }
}
