import { applyDecorators, SetMetadata, type Type } from '@nestjs/common';
import { ApiBody, ApiExtraModels, getSchemaPath } from '@nestjs/swagger';
import { type ErrorCode, ERRORS, type CodeWithMessage } from '../errors/errors.js';
import { PageMetaView } from './properties.js';

type SchemaObject = Record<string, unknown>;

/** Metadata key: the errors of a handler. */
export const THROWN = Symbol('thrown errors');

/** The messages of each code. */
export type HandlerErrors = Partial<Record<ErrorCode, readonly string[]>>;

/** A code with its message of the table, or codes with one or several messages of the handler. */
type ErrorOfHandler = CodeWithMessage | Partial<Record<ErrorCode, string | readonly string[]>>;

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
  /** Named schemas of the document that it adds to those of its views. */
  readonly named: Readonly<Record<string, SchemaObject>>;
  readonly description?: string | undefined;
  readonly example?: unknown;
  /** Whether it is a page, with links to others. */
  readonly hasLinks?: boolean;
}

/** An error that is not in the envelope. */
export interface OtherError {
  readonly status: number;
  /** The name of its schema in the document. */
  readonly name: string;
  readonly schema: SchemaObject;
}

// The status of a success is not declared here: it follows from the method and `@HttpCode`.

/** The response is `{data}`. */
export const ReturnsData = (view: Type): MethodDecorator => returns([view], [dataOf(view)]);

/** The response is the view itself. @param types media types, if not only JSON */
export const Returns = (view: Type, types?: readonly string[]): MethodDecorator =>
  returns([view], [[nameOf(view)]], { types });

/** The response is a stream of views. @public for modules that teams add */
export const ReturnsStream = (view: Type, type: string, description: string): MethodDecorator =>
  returns([view], [[nameOf(view)]], { types: [type], description });

/** The response is `{data}`, a complete list. */
export const ReturnsList = (view: Type): MethodDecorator => returns([view], [listOf(view)]);

/** The response redirects the browser. */
export const ReturnsRedirect = (description: string): MethodDecorator =>
  SetMetadata(REDIRECTION, description);

/** The response is one page of a list by number, with the `Link` header. */
export const ReturnsPage = (view: Type): MethodDecorator => returnsPage([view, PageMetaView], [pageOf(view)]);

/** The response is one page of a list by cursor. @param nextCursor when there is a `next_cursor` */
export const ReturnsCursorPage = (view: Type, nextCursor?: string): MethodDecorator =>
  returnsPage([view], [cursorPageOf(view, nextCursor)]);

/** The response is a page by number or by cursor, depending on the query. */
export const ReturnsPageOrCursorPage = (view: Type): MethodDecorator =>
  returnsPage([view, PageMetaView], [pageOf(view), cursorPageOf(view)]);

/** The response is one of the views, or `{data}` of another. */
export const ReturnsViewsOrData = (views: readonly Type[], other: Type): MethodDecorator =>
  returns([...views, other], [...views.map((view): Part => [nameOf(view)]), dataOf(other)]);

/** The response is one of the views. */
export const ReturnsOneOf = (...views: readonly Type[]): MethodDecorator =>
  returns(
    views,
    views.map((view): Part => [nameOf(view)]),
  );

/** The body is one of the inputs; the handler decides which, and validates it with `checkInput()`. */
export const AcceptsOneOf = (...inputs: readonly [Type, ...Type[]]): MethodDecorator =>
  applyDecorators(
    SetMetadata<symbol, Type>(INPUT, inputs[0]),
    ApiExtraModels(...inputs),
    // Some generators need the type.
    ApiBody({ schema: { type: 'object', oneOf: inputs.map((input) => ({ $ref: getSchemaPath(input) })) } }),
  );

/** The response has no class. @param name the name of the schema in the document */
export const ReturnsSchema = (name: string, schema: SchemaObject): MethodDecorator =>
  returns([], [[name, schema]]);

/** The response is `{message}`. */
export const ReturnsMessage = (message: string): MethodDecorator =>
  returns([], [['PlainMessage', object({ message: { type: 'string' } }, ['message'])]], {
    example: { message },
  });

/**
 * The errors that a handler throws itself, with their messages; those of its parameters and of its access are added:
 * `@Throws('INVALID_CURSOR', { NOT_FOUND: ['Post not found', 'Comment not found'] })`. A code alone
 * has its standard message. Those of several decorators add up.
 */
export const Throws =
  (...errors: readonly ErrorOfHandler[]): ClassDecorator & MethodDecorator =>
  (target: object, _name?: unknown, descriptor?: TypedPropertyDescriptor<any>): void => {
    const place = (descriptor?.value ?? target) as object;
    const below = Reflect.getOwnMetadata(THROWN, place) as HandlerErrors | undefined;
    Reflect.defineMetadata(THROWN, collect(below ? [below, ...errors] : errors), place);
  };

function collect(errors: readonly (ErrorOfHandler | HandlerErrors)[]): HandlerErrors {
  const collected: Partial<Record<ErrorCode, string[]>> = {};
  for (const error of errors) {
    const texts = typeof error === 'string' ? { [error]: ERRORS[error].message } : error;
    for (const [code, text] of Object.entries(texts)) {
      (collected[code as ErrorCode] ??= []).push(...[text].flat());
    }
  }
  return collected;
}

/** An error without the envelope. @param name the name of its schema in the document */
export const ThrowsOther = (status: number, name: string, schema: SchemaObject): MethodDecorator =>
  SetMetadata<symbol, OtherError>(OTHER_ERROR, { status, name, schema });

/** The name of a schema in the document, and the schema, unless it is that of a view. */
type Part = readonly [name: string, schema?: SchemaObject];

/** @param parts the response is one of them */
function returns(
  models: readonly Type[],
  parts: readonly Part[],
  {
    types = ['application/json'],
    ...others
  }: Omit<Success, 'schema' | 'named' | 'types'> & { types?: readonly string[] | undefined } = {},
): MethodDecorator {
  const refs = parts.map(([name]) => ({ $ref: `#/components/schemas/${name}` }));
  const named = Object.fromEntries(parts.filter((part): part is [string, SchemaObject] => part.length === 2));
  return applyDecorators(
    ApiExtraModels(...models),
    SetMetadata<symbol, Success>(SUCCESS, {
      schema: refs.length === 1 ? refs[0]! : { oneOf: refs },
      types,
      named,
      ...others,
    }),
  );
}

const returnsPage = (models: readonly Type[], parts: readonly Part[]): MethodDecorator =>
  returns(models, parts, { hasLinks: true });

const ref = (view: Type): SchemaObject => ({ $ref: getSchemaPath(view) });

const nameOf = (view: Type): string => getSchemaPath(view).split('/').at(-1)!;

const object = (properties: SchemaObject, required: readonly string[]): SchemaObject => ({
  type: 'object',
  properties,
  required,
  additionalProperties: false,
});

const dataOf = (view: Type): Part => [`${nameOf(view)}Response`, object({ data: ref(view) }, ['data'])];

const itemsOf = (view: Type): SchemaObject => ({ type: 'array', items: ref(view) });

const listOf = (view: Type): Part => [`${nameOf(view)}List`, object({ data: itemsOf(view) }, ['data'])];

const pageOf = (view: Type): Part => [
  `${nameOf(view)}Page`,
  object({ data: itemsOf(view), meta: ref(PageMetaView) }, ['data', 'meta']),
];

const cursorPageOf = (view: Type, nextCursor = 'Absent on the last page.'): Part => [
  `${nameOf(view)}CursorPage`,
  object(
    {
      data: itemsOf(view),
      next_cursor: { type: 'string', description: nextCursor },
      has_next: { type: 'boolean' },
    },
    ['data', 'has_next'],
  ),
];
