import { GraphQLError, Lexer, Source, TokenKind } from 'graphql';
import { tooComplex } from './too-complex.js';

/** @returns the error `QUERY_TOO_COMPLEX`, for a syntax error with which the parser stopped at its limit */
export function tooManyTokens(failure: unknown, limit: number): GraphQLError | undefined {
  if (!(failure instanceof GraphQLError) || failure.path) return undefined;
  const isSyntaxError = failure.source !== undefined && failure.nodes === undefined;
  const text = isSyntaxError ? failure.source.body : '';
  return text.length > limit ? tooComplex('tokens', countTokens(text), limit) : undefined;
}

/** Tokens of a text as far as it is readable. */
function countTokens(text: string): number {
  const lexer = new Lexer(new Source(text));
  let count = 0;
  try {
    while (lexer.advance().kind !== TokenKind.EOF) count++;
  } catch {
    // The rest is a syntax error, which is reported unless there were too many tokens before it.
  }
  return count;
}
