import { applyDecorators, SetMetadata, type Type, UseInterceptors } from '@nestjs/common';
import { ApiExtraModels, getSchemaPath } from '@nestjs/swagger';
import type { ErrorCode } from '../errors/errors.js';
import { MESSAGES } from '../errors/messages.js';
import { ResourceHeadersInterceptor } from '../responses/resource-headers.interceptor.js';
import { PageMetaView } from './page-meta.view.js';

type SchemaObject = Record<string, unknown>;

/** Errors of a handler, with their messages. */
export const REFUSALS = Symbol('refusals');

/** The messages of each code. */
export type Refusals = Partial<Record<ErrorCode, readonly string[]>>;

/** A code whose message is that of `MESSAGES`, or codes with one or several messages of the handler. */
type Refusal = keyof typeof MESSAGES | Partial<Record<ErrorCode, string | readonly string[]>>;

/** Metadata keys of what a handler responds with; see `Handler` of the reference. */
export const SUCCESS = Symbol('success');
export const REDIRECTION = Symbol('redirection');
export const OTHER_ERROR = Symbol('other error');

/** The body of a success. */
export interface Success {
  readonly schema: SchemaObject;
  readonly types: readonly string[];
}

/** An error that is not in the envelope. */
export interface OtherError {
  readonly status: number;
  readonly schema: SchemaObject;
}

// The status of a success is not said here: it follows from the method and `@HttpCode`.

/** Answers with `{data}`. */
export const AnswersData = (view: Type): MethodDecorator =>
  answers([view], object({ data: ref(view) }, ['data']));

/** Answers with `{data}` of what was created: return a `Created`, whose `Location` is sent as well. */
export const AnswersCreated = (view: Type): MethodDecorator =>
  applyDecorators(AnswersData(view), UseInterceptors(ResourceHeadersInterceptor));

/** Answers with the view itself. @param types media types, where there are more than JSON */
export const Answers = (view: Type, types?: readonly string[]): MethodDecorator =>
  answers([view], ref(view), types);

/** Answers with text of another media type. */
export const AnswersText = (type: string, description: string): MethodDecorator =>
  answers([], { type: 'string', description }, [type]);

/** Answers with `{data}`, a whole list. */
export const AnswersList = (view: Type): MethodDecorator =>
  answers([view], object({ data: listOf(view) }, ['data']));

/** Answers by sending the browser elsewhere. */
export const AnswersByRedirection = (description: string): MethodDecorator =>
  SetMetadata(REDIRECTION, description);

/** Answers with one page of a list, found by its number, and with the `Link` header. */
export const AnswersPage = (view: Type): MethodDecorator =>
  withLinks(answers([view, PageMetaView], pageOf(view)));

/** Answers with one page of a list, found by where the one before it ended. */
export const AnswersCursorPage = (view: Type): MethodDecorator =>
  withLinks(answers([view], cursorPageOf(view)));

/** Answers with the one or the other, as the query has it. */
export const AnswersPageOrCursorPage = (view: Type): MethodDecorator =>
  withLinks(answers([view, PageMetaView], { oneOf: [pageOf(view), cursorPageOf(view)] }));

/** Answers with a view, or with `{data}` of another. */
export const AnswersOrData = (view: Type, other: Type): MethodDecorator =>
  answers([view, other], { oneOf: [ref(view), object({ data: ref(other) }, ['data'])] });

/** Answers with `{}`, `{message}` and the like, for which a class would be too much. */
export const AnswersWith = (schema: SchemaObject): MethodDecorator => answers([], schema);

/** Answers with `{message}`. */
export const AnswersMessage = (message: string): MethodDecorator =>
  AnswersWith(object({ message: { const: message } }, ['message']));

/**
 * Errors of a handler beside those that follow from its parameters and from who may call it, with the very messages
 * that clients get: `@Refuses('INVALID_CURSOR', { NOT_FOUND: ['Post not found', 'Comment not found'] })`. A code alone
 * has its standard message.
 */
export const Refuses = (...refusals: readonly Refusal[]): ClassDecorator & MethodDecorator =>
  SetMetadata<symbol, Refusals>(REFUSALS, collect(refusals));

function collect(refusals: readonly Refusal[]): Refusals {
  const collected: Partial<Record<ErrorCode, string[]>> = {};
  for (const refusal of refusals) {
    const texts = typeof refusal === 'string' ? { [refusal]: MESSAGES[refusal] } : refusal;
    for (const [code, text] of Object.entries(texts)) {
      (collected[code as ErrorCode] ??= []).push(...[text].flat());
    }
  }
  return collected;
}

/** A refusal that is not in the envelope. */
export const AlsoRefuses = (status: number, schema: SchemaObject): MethodDecorator =>
  SetMetadata<symbol, OtherError>(OTHER_ERROR, { status, schema });

function answers(
  models: readonly Type[],
  schema: SchemaObject,
  types: readonly string[] = ['application/json'],
): MethodDecorator {
  return applyDecorators(ApiExtraModels(...models), SetMetadata<symbol, Success>(SUCCESS, { schema, types }));
}

const withLinks = (decorator: MethodDecorator): MethodDecorator =>
  applyDecorators(decorator, UseInterceptors(ResourceHeadersInterceptor));

const ref = (view: Type): SchemaObject => ({ $ref: getSchemaPath(view) });

const listOf = (view: Type): SchemaObject => ({ type: 'array', items: ref(view) });

const object = (properties: SchemaObject, required: readonly string[]): SchemaObject => ({
  type: 'object',
  properties,
  required,
  additionalProperties: false,
});

const pageOf = (view: Type): SchemaObject =>
  object({ data: listOf(view), meta: ref(PageMetaView) }, ['data', 'meta']);

const cursorPageOf = (view: Type): SchemaObject =>
  object(
    {
      data: listOf(view),
      next_cursor: { type: 'string', description: 'Absent on the last page.', examples: ['MjA='] },
      has_next: { type: 'boolean' },
    },
    ['data', 'has_next'],
  );
