import {
  type DocumentNode,
  GraphQLError,
  type GraphQLSchema,
  getOperationAST,
  Lexer,
  NoSchemaIntrospectionCustomRule,
  parse,
  Source,
  specifiedRules,
  TokenKind,
  validate,
} from 'graphql';
import { LRUCache } from 'lru-cache';
import type { GraphqlSettings } from '../config/config.js';
import { type Cost, costOf, type Variables } from './limits/cost.js';
import { checkShape } from './limits/document-limits.js';
import { tooComplex } from './limits/too-complex.js';

/** Tokens of the documents that are kept, altogether; each takes some 400 bytes, so that is 20 MB. */
const CACHE_SIZE = 50_000;

/** A document that may be executed. */
class CheckedDocument {
  private readonly costs = new Map<string | null | undefined, Cost>();

  constructor(
    readonly document: DocumentNode,
    private readonly schema: GraphQLSchema,
  ) {}

  /** How many objects the operation may answer with; 0 when there is no such operation. */
  cost(operationName: string | null | undefined, variables: Variables): number {
    let cost = this.costs.get(operationName);
    if (!cost) {
      const operation = getOperationAST(this.document, operationName);
      if (!operation) return 0;
      this.costs.set(operationName, (cost = costOf(operation, this.document, this.schema)));
    }
    return cost(variables);
  }
}

/** Parses and checks what clients send; of a text that comes again, what came of it the first time. */
export class Documents {
  private readonly checked = new LRUCache<string, CheckedDocument>({
    maxSize: CACHE_SIZE,
    sizeCalculation: ({ document }) => document.tokenCount!,
  });

  constructor(
    private readonly schema: GraphQLSchema,
    private readonly settings: GraphqlSettings,
  ) {}

  /**
   * @throws GraphQLError for a syntax error
   * @throws AppError `QUERY_TOO_COMPLEX`
   * @returns the errors of a document that does not fit the schema
   */
  check(text: string): CheckedDocument | readonly GraphQLError[] {
    const known = this.checked.get(text);
    if (known) return known;

    const { limits, introspection, suggestions } = this.settings;
    const document = this.parse(text);
    checkShape(document, limits);
    const rules = introspection ? specifiedRules : [...specifiedRules, NoSchemaIntrospectionCustomRule];
    const errors = validate(this.schema, document, rules, { hideSuggestions: !suggestions });
    if (errors.length > 0) return errors;

    const checked = new CheckedDocument(document, this.schema);
    this.checked.set(text, checked);
    return checked;
  }

  private parse(text: string): DocumentNode {
    const { tokens } = this.settings.limits;
    try {
      return parse(text, { maxTokens: tokens });
    } catch (error) {
      tooComplex('tokens', countTokens(text), tokens);
      throw error;
    }
  }
}

/** Tokens of a text as far as it can be read. */
function countTokens(text: string): number {
  const lexer = new Lexer(new Source(text));
  let count = 0;
  try {
    while (lexer.advance().kind !== TokenKind.EOF) count++;
  } catch {
    // What cannot be read is told as a syntax error, unless there was too much before it.
  }
  return count;
}
