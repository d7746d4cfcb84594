import { HttpStatus, type INestApplication, RequestMethod, type Type } from '@nestjs/common';
import {
  HTTP_CODE_METADATA,
  METHOD_METADATA,
  REDIRECT_METADATA,
  ROUTE_ARGS_METADATA,
} from '@nestjs/common/constants.js';
import { RouteParamtypes } from '@nestjs/common/internal';
import { MetadataScanner, ModulesContainer, Reflector } from '@nestjs/core';
import { FASTIFY_ROUTE_CONFIG_METADATA } from '@nestjs/platform-fastify/constants.js';
import { type Access, ACCESS } from '../auth/access/index.js';
import { WITHOUT_DETAILS } from '../common/errors/without-details.js';
import { IDEMPOTENT, type IdempotentOptions } from '../idempotency/idempotent.js';
import { REFUSALS, type Refusals } from '../common/openapi/answers.js';

/** What the code says of a handler beside its path, its parameters and its answer. */
export interface Handler {
  readonly method: RequestMethod;
  /** Of its success. */
  readonly status: number;
  readonly access: Access | undefined;
  /** Whether the body is read whatever its Content-Type says. */
  readonly anyContentType: boolean;
  /** The class of its body; undefined for a handler without one. */
  readonly input: Type | undefined;
  /** Whether it takes, or even requires, an `Idempotency-Key`. */
  readonly idempotencyKey: 'none' | 'optional' | 'required';
  readonly refusals: Refusals;
  /** Whether it names the fields that break a rule. */
  readonly details: boolean;
}

/** Ids of operations, which tools make names of: `Posts_create_v1`. */
export const operationId = (controller: string, method: string, version?: string): string =>
  [controller.replace(/Controller$/, ''), method, version].filter(Boolean).join('_');

/** The handlers of the application, by their operation id without the version. */
export function findHandlers(app: INestApplication): Map<string, Handler> {
  const reflector = app.get(Reflector);
  const scanner = new MetadataScanner();
  const handlers = new Map<string, Handler>();
  for (const { controllers } of app.get(ModulesContainer).values()) {
    for (const { metatype } of controllers.values()) {
      const type = metatype as Type;
      for (const name of scanner.getAllMethodNames(type.prototype)) {
        handlers.set(operationId(type.name, name), describe(reflector, type, name));
      }
    }
  }
  return handlers;
}

function describe(reflector: Reflector, type: Type, name: string): Handler {
  const handler = type.prototype[name] as Function;
  const method = reflector.get<RequestMethod>(METHOD_METADATA, handler);
  const config = reflector.get<{ anyContentType?: boolean } | undefined>(
    FASTIFY_ROUTE_CONFIG_METADATA,
    handler,
  );
  const success = method === RequestMethod.POST ? HttpStatus.CREATED : HttpStatus.OK;
  const isRedirection = reflector.get<unknown>(REDIRECT_METADATA, handler) !== undefined;
  const idempotent = reflector.get<IdempotentOptions | undefined>(IDEMPOTENT, handler);
  return {
    method,
    status: isRedirection
      ? HttpStatus.FOUND
      : (reflector.get<number | undefined>(HTTP_CODE_METADATA, handler) ?? success),
    access: reflector.getAllAndOverride<Access | undefined>(ACCESS, [handler, type]),
    anyContentType: config?.anyContentType === true,
    input: bodyType(type, name),
    idempotencyKey: idempotent === undefined ? 'none' : idempotent.required ? 'required' : 'optional',
    details: !reflector.getAllAndOverride<boolean | undefined>(WITHOUT_DETAILS, [handler, type]),
    refusals: { ...reflector.get<Refusals>(REFUSALS, type), ...reflector.get<Refusals>(REFUSALS, handler) },
  };
}

function bodyType(type: Type, name: string): Type | undefined {
  const parameters: Record<string, { index: number }> =
    Reflect.getMetadata(ROUTE_ARGS_METADATA, type, name) ?? {};
  const body = Object.entries(parameters).find(([key]) => key.startsWith(`${RouteParamtypes.BODY}:`));
  const types: Type[] = Reflect.getMetadata('design:paramtypes', type.prototype as object, name) ?? [];
  return body && types[body[1].index];
}
