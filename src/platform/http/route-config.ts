import { Injectable, type OnModuleInit } from '@nestjs/common';
import { DiscoveryService, MetadataScanner } from '@nestjs/core';
import { RouteConfig } from '@nestjs/platform-fastify';
import type { FastifyContextConfig } from 'fastify';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** No cache may store the responses of the route, whoever asks. Set by {@link NoStore}. */
    noStore?: boolean;
    /** Responses are private, always or unless `WRITE_ACCESS` is `open`. Set by the decorators of access. */
    dependsOnCaller?: 'always' | 'unless open' | undefined;
    /** Set by {@link ForProbes}. */
    forProbes?: boolean;
    /** The response never ends: its size has no limit of its own. Set by {@link KeepsOpen}. */
    eventStream?: boolean;
  }
}

/**
 * No cache may store a response, for example because it contains a token. The guard does the same where a handler
 * looks at the caller. If all routes below a first path segment have it, so do the errors of unknown paths there.
 */
export const NoStore = (): ClassDecorator & MethodDecorator => ConfigureRoute({ noStore: true });

/**
 * For probes of orchestrators: the rate limit does not count the requests, and they are served before the migrations
 * have run. If all routes below a first path segment have it, so do unknown paths there.
 */
export const ForProbes = (): ClassDecorator & MethodDecorator => ConfigureRoute({ forProbes: true });

/** The response is a stream that lasts until the client leaves. */
export const KeepsOpen = (): MethodDecorator => ConfigureRoute({ eventStream: true });

/** The metadata of Nest's `@RouteConfig()`, which becomes the `config` of the route. */
const { KEY } = RouteConfig({});

/** What `ConfigureRoute` has set for each handler. */
const configurations = new WeakMap<object, FastifyContextConfig>();

/**
 * Adds to the `config` of a route in Fastify, or of all routes of a controller, whose own decorators take precedence.
 * Nest's `@RouteConfig()` replaces what decorators below it have set: write it below them.
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
  const current = Reflect.getMetadata(KEY, descriptor.value);
  const merged = { ...config, ...current };
  // What `@RouteConfig()` has replaced stays different, for the check.
  const known = configurations.get(descriptor.value);
  if (known === undefined || known === current) configurations.set(descriptor.value, merged);
  RouteConfig(merged)(prototype, name, descriptor);
}

/** Fails at start where `@RouteConfig()` has replaced the settings of other decorators. */
@Injectable()
export class RouteConfigCheck implements OnModuleInit {
  constructor(
    private readonly discovery: DiscoveryService,
    private readonly scanner: MetadataScanner,
  ) {}

  onModuleInit(): void {
    for (const { metatype } of this.discovery.getControllers()) {
      if (!metatype) continue;
      for (const name of this.scanner.getAllMethodNames(metatype.prototype)) {
        const handler = metatype.prototype[name];
        const configuration = configurations.get(handler);
        if (!configuration || configuration === Reflect.getMetadata(KEY, handler)) continue;
        throw new Error(
          `@RouteConfig() of ${metatype.name}.${name} replaces what the decorators below it set: move it below them`,
        );
      }
    }
  }
}
