import { applyDecorators, SetMetadata, type Type, UseInterceptors } from '@nestjs/common';
import { ApiBody, ApiExtraModels, getSchemaPath } from '@nestjs/swagger';
import type { ErrorCode } from '../errors/errors.js';
import { MESSAGES } from '../errors/messages.js';
import { ResourceHeadersInterceptor } from '../responses/resource-headers.interceptor.js';
import { PageMetaView } from './properties.js';

type SchemaObject = Record<string, unknown>;

/** Metadata key: the errors of a handler. */
export const THROWN = Symbol('thrown errors');

/** The messages of each code. */
export type HandlerErrors = Partial<Record<ErrorCode, readonly string[]>>;

/** A code with its message of `MESSAGES`, or codes with one or several messages of the handler. */
type ErrorOfHandler = keyof typeof MESSAGES | Partial<Record<ErrorCode, string | readonly string[]>>;

/** Metadata keys of a handler's responses; see `Handler` of the reference. */
export const SUCCESS = Symbol('success');
export const REDIRECTION = Symbol('redirection');
/** The class of a body without one in the signature: an empty body has its validation errors. */
export const INPUT = Symbol('input');
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

// The status of a success is not declared here: it follows from the method and `@HttpCode`.

/** The response is `{data}`. */
export const ReturnsData = (view: Type): MethodDecorator =>
  returns([view], object({ data: ref(view) }, ['data']));

/** The response is `{data}` of a new resource: return a `Created`, whose `Location` is sent as well. */
export const ReturnsCreated = (view: Type): MethodDecorator =>
  applyDecorators(ReturnsData(view), UseInterceptors(ResourceHeadersInterceptor));

/** The response is the view itself. @param types media types, if not only JSON */
export const Returns = (view: Type, types?: readonly string[]): MethodDecorator =>
  returns([view], ref(view), types);

/** The response is text of another media type. */
export const ReturnsText = (type: string, description: string): MethodDecorator =>
  returns([], { type: 'string', description }, [type]);

/** The response is `{data}`, a complete list. */
export const ReturnsList = (view: Type): MethodDecorator =>
  returns([view], object({ data: listOf(view) }, ['data']));

/** The response redirects the browser. */
export const ReturnsRedirect = (description: string): MethodDecorator =>
  SetMetadata(REDIRECTION, description);

/** The response is one page of a list by number, with the `Link` header. */
export const ReturnsPage = (view: Type): MethodDecorator =>
  withLinks(returns([view, PageMetaView], pageOf(view)));

/** The response is one page of a list by cursor. */
export const ReturnsCursorPage = (view: Type): MethodDecorator =>
  withLinks(returns([view], cursorPageOf(view)));

/** The response is a page by number or by cursor, depending on the query. */
export const ReturnsPageOrCursorPage = (view: Type): MethodDecorator =>
  withLinks(returns([view, PageMetaView], { oneOf: [pageOf(view), cursorPageOf(view)] }));

/** The response is one of the views, or `{data}` of another. */
export const ReturnsViewsOrData = (views: readonly Type[], other: Type): MethodDecorator =>
  returns([...views, other], { oneOf: [...views.map(ref), object({ data: ref(other) }, ['data'])] });

/** The response is one of the views. */
export const ReturnsOneOf = (...views: readonly Type[]): MethodDecorator =>
  returns(views, { oneOf: views.map(ref) });

/** The body is one of the inputs; the handler decides which, and validates it with `checkInput()`. */
export const AcceptsOneOf = (...inputs: readonly [Type, ...Type[]]): MethodDecorator =>
  applyDecorators(
    SetMetadata<symbol, Type>(INPUT, inputs[0]),
    ApiExtraModels(...inputs),
    ApiBody({ schema: { oneOf: inputs.map((input) => ({ $ref: getSchemaPath(input) })) } }),
  );

/** The response is `{}`, `{message}` or the like, without a class. */
export const ReturnsSchema = (schema: SchemaObject): MethodDecorator => returns([], schema);

/** The response is `{message}`. */
export const ReturnsMessage = (message: string): MethodDecorator =>
  ReturnsSchema(object({ message: { const: message } }, ['message']));

/**
 * The errors that a handler throws itself, with their messages; those of its parameters and of its access are added:
 * `@Throws('INVALID_CURSOR', { NOT_FOUND: ['Post not found', 'Comment not found'] })`. A code alone
 * has its standard message.
 */
export const Throws = (...errors: readonly ErrorOfHandler[]): ClassDecorator & MethodDecorator =>
  SetMetadata<symbol, HandlerErrors>(THROWN, collect(errors));

function collect(errors: readonly ErrorOfHandler[]): HandlerErrors {
  const collected: Partial<Record<ErrorCode, string[]>> = {};
  for (const error of errors) {
    const texts = typeof error === 'string' ? { [error]: MESSAGES[error] } : error;
    for (const [code, text] of Object.entries(texts)) {
      (collected[code as ErrorCode] ??= []).push(...[text].flat());
    }
  }
  return collected;
}

/** An error without the envelope. */
export const ThrowsOther = (status: number, schema: SchemaObject): MethodDecorator =>
  SetMetadata<symbol, OtherError>(OTHER_ERROR, { status, schema });

function returns(
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
