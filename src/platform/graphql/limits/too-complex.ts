import { type DocumentNode, GraphQLError, Lexer, Source, TokenKind } from 'graphql';
import { AppError } from '../../http/errors/errors.js';

/** @returns the error `QUERY_TOO_COMPLEX` with both numbers, if the limit is exceeded */
export function tooComplex(what: string, count: number, limit: number): GraphQLError | undefined {
  if (count <= limit) return undefined;
  const number = Number.isSafeInteger(count) ? String(count) : `more than ${Number.MAX_SAFE_INTEGER}`;
  const message = `The operation has ${number} ${what}, and at most ${limit} are allowed`;
  return new GraphQLError(message, { originalError: new AppError('QUERY_TOO_COMPLEX', message) });
}

/** @returns the error `QUERY_TOO_COMPLEX` for a syntax error at the parser's limit of tokens */
export function tooManyTokens(failure: unknown, limit: number): GraphQLError | undefined {
  if (!(failure instanceof GraphQLError) || failure.path) return undefined;
  const isSyntaxError = failure.source !== undefined && failure.nodes === undefined;
  const text = isSyntaxError ? failure.source.body : '';
  return text.length > limit ? tooComplex('tokens', countTokens(text), limit) : undefined;
}

/** The number of tokens up to the first syntax error. */
function countTokens(text: string): number {
  const lexer = new Lexer(new Source(text));
  let count = 0;
  try {
    while (lexer.advance().kind !== TokenKind.EOF) count++;
  } catch {
    // The syntax error is reported, unless there were too many tokens before it.
  }
  return count;
}

/** The checks of a document call themselves for each level; some thousand levels would exceed the stack. */
const MAX_LEVELS = 500;

const OPENING = new Set<TokenKind>([TokenKind.BRACE_L, TokenKind.BRACKET_L, TokenKind.PAREN_L]);
const CLOSING = new Set<TokenKind>([TokenKind.BRACE_R, TokenKind.BRACKET_R, TokenKind.PAREN_R]);

/** @returns the error `QUERY_TOO_COMPLEX` for too many levels of braces and brackets, or too many fragments */
export function tooNested({ loc, definitions }: DocumentNode): GraphQLError | undefined {
  let [level, deepest] = [0, 0];
  for (let token = loc?.startToken; token; token = token.next ?? undefined) {
    if (OPENING.has(token.kind)) deepest = Math.max(deepest, ++level);
    else if (CLOSING.has(token.kind)) level--;
  }
  return (
    tooComplex('levels of braces and brackets', deepest, MAX_LEVELS) ??
    // Each fragment may spread the next one.
    tooComplex('operations and fragments', definitions.length, MAX_LEVELS)
  );
}

/**
 * The parser calls itself for each level as well, before there is a document to check.
 *
 * @param failure the error of a request
 * @returns the error `QUERY_TOO_COMPLEX` if the document exceeded the stack of the parser
 */
export function exceededStack(failure: unknown): GraphQLError | undefined {
  if (!(failure instanceof GraphQLError) || failure.path) return undefined;
  if (!(originOf(failure) instanceof RangeError)) return undefined;
  const message = `The operation has too many levels of braces and brackets, and at most ${MAX_LEVELS} are allowed`;
  return new GraphQLError(message, { originalError: new AppError('QUERY_TOO_COMPLEX', message) });
}

/** @returns what an error was thrown for, at the end of the chain of `originalError` */
export function originOf(failure: GraphQLError): Error {
  let origin: Error = failure;
  while (origin instanceof GraphQLError && origin.originalError) origin = origin.originalError;
  return origin;
}
