import { RouteConfig } from '@nestjs/platform-fastify';
import type { FastifyContextConfig } from 'fastify';

const configurations = new WeakMap<object, FastifyContextConfig>();

/**
 * Adds to the `config` of a route in Fastify, or of all routes of a controller, whose own decorators take precedence.
 * Nest's `RouteConfig` replaces what other decorators have set.
 */
export function ConfigureRoute(config: FastifyContextConfig): ClassDecorator & MethodDecorator {
  return (target: object, name?: string | symbol, descriptor?: PropertyDescriptor) => {
    if (descriptor) {
      configure(target, name!, descriptor, config);
      return;
    }
    const { prototype } = target as Function;
    for (const [method, each] of Object.entries(Object.getOwnPropertyDescriptors(prototype))) {
      if (method !== 'constructor' && typeof each.value === 'function')
        configure(prototype, method, each, config);
    }
  };
}

function configure(
  prototype: object,
  name: string | symbol,
  descriptor: PropertyDescriptor,
  config: FastifyContextConfig,
): void {
  const merged = { ...config, ...configurations.get(descriptor.value) };
  configurations.set(descriptor.value, merged);
  RouteConfig(merged)(prototype, name, descriptor);
}
