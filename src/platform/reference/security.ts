import { isDeepStrictEqual } from 'node:util';
import type { Access } from '../access/index.js';
import type { Handler } from './handlers.js';

export const SAFE: ReadonlySet<string> = new Set(['get', 'head']);

const OPTIONAL = new Set<Access>(['write', 'owner', 'optional', 'public with account']);

/**
 * Marks operations that look at no credentials while `WRITE_ACCESS` is `open`: whether they are `required` or
 * `optional` otherwise. `tools/build/reference.ts` derives a reference for each case from it.
 */
const UNLESS_OPEN = 'x-credentials-unless-open';

/** Whether callers may or must authenticate. @param method in lower case, here and below */
export function securityOf({ access }: Handler, method: string): 'none' | 'optional' | 'required' {
  if (access === 'public' || (access === 'write' && SAFE.has(method))) return 'none';
  return access !== undefined && OPTIONAL.has(access) ? 'optional' : 'required';
}

/**
 * The members of an operation that say how callers authenticate.
 *
 * @param written further ways, of `@ApiSecurity()` and the like
 */
export function securityMembers(
  handler: Handler,
  method: string,
  written: readonly object[] = [],
): Readonly<Record<string, unknown>> {
  const unlessOpen = credentialsUnlessOpen(handler, method);
  const own = waysToAuthenticate(handler, method);
  const further = written.filter((way) => !own.some((each) => isDeepStrictEqual(each, way)));
  return { security: [...own, ...further], ...(unlessOpen && { [UNLESS_OPEN]: unlessOpen }) };
}

/** Without credentials, with a token, or with a session cookie, which needs its CSRF token for a change. */
function waysToAuthenticate(handler: Handler, method: string): object[] {
  const security = securityOf(handler, method);
  if (security === 'none') return [];
  const session = { session: [], ...(!SAFE.has(method) && { csrf: [] }) };
  return [
    ...(security === 'optional' ? [{}] : []),
    ...(handler.access === 'cookie' ? [] : [{ bearer: [] }]),
    session,
  ];
}

function credentialsUnlessOpen({ access }: Handler, method: string): 'optional' | 'required' | undefined {
  if (access === 'optional') return 'optional';
  return access === 'owner' || (access === 'write' && !SAFE.has(method)) ? 'required' : undefined;
}
