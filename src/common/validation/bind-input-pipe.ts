import type { INestApplicationContext } from '@nestjs/common';
import { ROUTE_ARGS_METADATA } from '@nestjs/common/constants.js';
import { RouteParamtypes } from '@nestjs/common/internal';
import { ContextUtils } from '@nestjs/core/helpers/context-utils.js';
import { MetadataScanner, ModulesContainer } from '@nestjs/core';
import { InputPipe } from './input.pipe.js';

/** What Nest keeps of a handler's parameters: by `type:index`, the pipes that each passes. */
type Parameters = Record<string, { pipes: unknown[] }>;

const pipe = new InputPipe();
const scanner = new MetadataScanner();
const context = new ContextUtils();

/**
 * Has every `@Body()` of every handler pass the {@link InputPipe}, as a global pipe would; but that would run
 * for all other parameters too, to no effect, and be felt where one post is read. Call it before the routes
 * are made.
 */
export function bindInputPipe(app: INestApplicationContext): void {
  for (const { controllers, providers } of app.get(ModulesContainer).values()) {
    for (const { instance } of [...controllers.values(), ...providers.values()]) {
      if (typeof instance === 'object' && instance !== null) bind(instance);
    }
  }
}

function bind(instance: object): void {
  for (const method of scanner.getAllMethodNames(Object.getPrototypeOf(instance) as object)) {
    const parameters = context.reflectCallbackMetadata<Parameters>(instance, method, ROUTE_ARGS_METADATA);
    for (const [key, parameter] of Object.entries(parameters ?? {})) {
      const isBody = key.startsWith(`${RouteParamtypes.BODY}:`);
      // The metadata belongs to the class, and a process may make more than one application.
      if (isBody && !parameter.pipes.includes(pipe)) parameter.pipes.unshift(pipe);
    }
  }
}
