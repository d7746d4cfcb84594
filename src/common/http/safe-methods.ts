/** The methods that change nothing (RFC 9110, section 9.2.1). */
const SAFE_METHODS = new Set(['GET', 'HEAD', 'OPTIONS']);

export const isSafe = ({ method }: { readonly method: string }): boolean => SAFE_METHODS.has(method);
