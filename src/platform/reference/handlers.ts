import { HttpStatus, type INestApplication, RequestMethod, type Type } from '@nestjs/common';
import { HTTP_CODE_METADATA, METHOD_METADATA } from '@nestjs/common/constants.js';
import { MetadataScanner, ModulesContainer, Reflector } from '@nestjs/core';
import { DECORATORS } from '@nestjs/swagger';
import { type Access, ACCESS, API_KEYS } from '../access/index.js';
import { HAS_TAG } from '../http/responses/entity-tag.js';
import { HAS_PRECONDITION } from '../http/responses/if-match.js';
import { WITHOUT_DETAILS } from '../http/responses/without-details.js';
import { ANY_CONTENT_TYPE } from '../http/json-body.js';
import {
  INPUT,
  OTHER_ERROR,
  type OtherError,
  REDIRECTION,
  THROWN,
  type HandlerErrors,
  type Success,
  SUCCESS,
} from '../http/openapi/returns.js';
import { IDEMPOTENT, type IdempotentOptions } from '../idempotency/idempotent.js';

/** The metadata of our own decorators; path and parameters come from Nest's Swagger module. */
export interface Handler {
  /** Of `@ApiOperation({ operationId })`; by default that of {@link operationId}. */
  readonly operationId: string | undefined;
  readonly access: Access | undefined;
  /** Whether the body is read whatever its Content-Type is. */
  readonly anyContentType: boolean;
  /** The types of its parameters. */
  readonly parameters: readonly Type[];
  /** The class of its body, if none of the parameters has it. */
  readonly input: Type | undefined;
  /** Whether it accepts or requires an `Idempotency-Key`. */
  readonly idempotencyKey: 'none' | 'optional' | 'required';
  /** Of a success: that of `@HttpCode()`, or Nest's default. */
  readonly status: number;
  /** Whether its response has an `ETag`. */
  readonly hasTag: boolean;
  /** Whether it accepts an `If-Match`. */
  readonly hasPrecondition: boolean;
  /** Whether no API key may call it. */
  readonly refusesApiKeys: boolean;
  /** Of a success that has a body. */
  readonly success: Success | undefined;
  /** The description of its redirect. */
  readonly redirection: string | undefined;
  readonly otherError: OtherError | undefined;
  readonly errors: HandlerErrors;
  /** Whether its validation errors have details. */
  readonly details: boolean;
}

/** Ids of operations, from which tools derive names: `Posts_create_v1`. A version in the class name is left out. */
export const operationId = (controller: string, method: string, version?: string): string =>
  [controller.replace(/(V\d+)?Controller$/, ''), method, version].filter(Boolean).join('_');

export const handlerKey = (controller: string, method: string): string => `${controller}.${method}`;

/** The handlers of the application, by {@link handlerKey}. */
export function findHandlers(app: INestApplication): Map<string, Handler> {
  const reflector = app.get(Reflector);
  const scanner = new MetadataScanner();
  const handlers = new Map<string, Handler>();
  for (const { controllers } of app.get(ModulesContainer).values()) {
    for (const { metatype } of controllers.values()) {
      const type = metatype as Type;
      if (Reflect.hasMetadata(DECORATORS.API_EXCLUDE_CONTROLLER, type)) continue;
      for (const name of scanner.getAllMethodNames(type.prototype)) {
        if (Reflect.hasMetadata(DECORATORS.API_EXCLUDE_ENDPOINT, type.prototype[name])) continue;
        handlers.set(handlerKey(type.name, name), describe(reflector, type, name));
      }
    }
  }
  return handlers;
}

function describe(reflector: Reflector, type: Type, name: string): Handler {
  const handler = type.prototype[name] as Function;
  const idempotent = reflector.get<IdempotentOptions | undefined>(IDEMPOTENT, handler);
  return {
    operationId: reflector.get<{ operationId?: string } | undefined>(DECORATORS.API_OPERATION, handler)
      ?.operationId,
    access: reflector.getAllAndOverride<Access | undefined>(ACCESS, [handler, type]),
    refusesApiKeys: reflector.getAllAndOverride<boolean | undefined>(API_KEYS, [handler, type]) === false,
    anyContentType: reflector.get<boolean | undefined>(ANY_CONTENT_TYPE, handler) === true,
    // Emitted by TypeScript (`emitDecoratorMetadata`).
    parameters: (Reflect.getMetadata('design:paramtypes', type.prototype as object, name) ?? []) as Type[],
    input: reflector.get<Type | undefined>(INPUT, handler),
    hasTag: reflector.get<boolean | undefined>(HAS_TAG, handler) === true,
    hasPrecondition: reflector.get<boolean | undefined>(HAS_PRECONDITION, handler) === true,
    idempotencyKey: idempotent === undefined ? 'none' : idempotent.required ? 'required' : 'optional',
    status:
      reflector.get<number | undefined>(HTTP_CODE_METADATA, handler) ??
      (reflector.get<RequestMethod | undefined>(METHOD_METADATA, handler) === RequestMethod.POST
        ? HttpStatus.CREATED
        : HttpStatus.OK),
    details: !reflector.getAllAndOverride<boolean | undefined>(WITHOUT_DETAILS, [handler, type]),
    success: reflector.get<Success | undefined>(SUCCESS, handler),
    redirection: reflector.get<string | undefined>(REDIRECTION, handler),
    otherError: reflector.get<OtherError | undefined>(OTHER_ERROR, handler),
    errors: {
      ...reflector.get<HandlerErrors>(THROWN, type),
      ...reflector.get<HandlerErrors>(THROWN, handler),
    },
  };
}
