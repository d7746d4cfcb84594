import { GraphQLError, Lexer, Source, TokenKind } from 'graphql';
import { tooComplex } from './too-complex.js';

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
