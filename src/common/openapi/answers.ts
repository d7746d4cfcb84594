import { applyDecorators, SetMetadata, type Type, UseInterceptors } from '@nestjs/common';
import { ApiExtraModels, ApiResponse, getSchemaPath } from '@nestjs/swagger';
import type { ErrorCode } from '../errors/errors.js';
import { ResourceHeadersInterceptor } from '../responses/resource-headers.interceptor.js';
import { MESSAGES } from './messages.js';
import { PageMetaView } from './page-meta.view.js';

type SchemaObject = Record<string, unknown>;

/** Refusals of a handler, with their messages. */
export const REFUSALS = Symbol('refusals');

export type Refusals = Partial<Record<ErrorCode, string>>;

// The status of a success is not said here: it follows from the method and `@HttpCode`.

/** Answers with `{data}`. */
export const AnswersData = (view: Type): MethodDecorator =>
  answers([view], object({ data: ref(view) }, ['data']));

/** Answers with `{data}` of what was created: return a `Created`, whose `Location` is sent as well. */
export const AnswersCreated = (view: Type): MethodDecorator =>
  applyDecorators(AnswersData(view), UseInterceptors(ResourceHeadersInterceptor));

/** Answers with the view itself. */
export const Answers = (view: Type): MethodDecorator => answers([view], ref(view));

/** Answers with `{data}`, a whole list. */
export const AnswersList = (view: Type): MethodDecorator =>
  answers([view], object({ data: listOf(view) }, ['data']));

/** Answers by sending the browser elsewhere. */
export const AnswersByRedirection = (description: string): MethodDecorator =>
  ApiResponse({ status: 302, description });

/** Answers with one page of a list, found by its number, and with the `Link` header. */
export const AnswersPage = (view: Type): MethodDecorator =>
  withLinks(answers([view, PageMetaView], pageOf(view)));

/** Answers with one page of a list, found by where the one before it ended. */
export const AnswersCursorPage = (view: Type): MethodDecorator =>
  withLinks(answers([view], cursorPageOf(view)));

/** Answers with the one or the other, as the query has it. */
export const AnswersPageOrCursorPage = (view: Type): MethodDecorator =>
  withLinks(answers([view, PageMetaView], { oneOf: [pageOf(view), cursorPageOf(view)] }));

/** Answers with `{}`, `{message}` and the like, for which a class would be too much. */
export const AnswersWith = (schema: SchemaObject): MethodDecorator => answers([], schema);

/** Answers with `{message}`. */
export const AnswersMessage = (message: string): MethodDecorator =>
  AnswersWith(object({ message: { const: message } }, ['message']));

/**
 * What a handler refuses beside what follows from its parameters and from who may call it: a code, with the
 * very message that clients get where the code alone does not say it.
 */
export const Refuses = (refusals: keyof typeof MESSAGES | Refusals): ClassDecorator & MethodDecorator =>
  SetMetadata(REFUSALS, typeof refusals === 'string' ? { [refusals]: MESSAGES[refusals] } : refusals);

/** A refusal that is not in the envelope. */
export const AlsoRefuses = (status: number, schema: SchemaObject): MethodDecorator =>
  ApiResponse({ status, schema });

function answers(models: readonly Type[], schema: SchemaObject): MethodDecorator {
  return applyDecorators(
    ApiExtraModels(...models),
    ApiResponse({ status: 'default', description: 'Success', schema }),
  );
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
