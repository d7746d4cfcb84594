import type { FastifyRequest, RouteOptions } from 'fastify';
import fastifyPlugin from 'fastify-plugin';
import findMyWay from 'find-my-way';

/** Longer than any request line that Node accepts, so that the handler checks even the longest id. */
export const MAX_PARAM_LENGTH = 64 * 1024;

declare module 'fastify' {
  interface FastifyInstance {
    routes: Routes;
  }
}

type HookName = 'onRequest' | 'preParsing' | 'preSerialization' | 'preHandler' | 'onSend' | 'onResponse';

/** Adds a hook to a route, after those that it has. */
export function appendHook<Name extends HookName>(
  route: RouteOptions,
  name: Name,
  hook: Exclude<NonNullable<RouteOptions[Name]>, readonly unknown[]>,
): void {
  route[name] = [...[route[name] ?? []].flat(), hook] as RouteOptions[Name];
}

/** All routes, with their configuration. */
class Routes {
  private readonly router = findMyWay({ ignoreTrailingSlash: true, maxParamLength: MAX_PARAM_LENGTH });
  private readonly methods = new Map<string, Set<string>>();
  private readonly areas = new Map<string, RouteOptions[]>();

  add(route: RouteOptions): void {
    const { url } = route;
    if (url === '*') return; // the preflight route of @fastify/cors
    const area = areaOf(url);
    this.areas.set(area, [...(this.areas.get(area) ?? []), route]);
    // Two routes of one path may have different names for its parameters.
    const path = url.replaceAll(/:[^/]+/g, ':parameter').replace(/(?<=.)\/$/, '');
    let methods = this.methods.get(path);
    if (!methods) {
      this.methods.set(path, (methods = new Set()));
      this.router.on('GET', path, () => undefined, methods);
    }
    // Apollo and `@All()` register OPTIONS, which is rejected unless it is a preflight.
    for (const name of [route.method].flat()) if (name !== 'OPTIONS') methods.add(name);
  }

  /** The methods of the path of a URL, sorted; `undefined` for an unknown path. */
  methodsOf(url: string): readonly string[] | undefined {
    const methods = this.find(url);
    return methods && [...methods].toSorted();
  }

  /**
   * Whether Fastify has found the route of another path: `/v1/posts/:id` for `/v1/posts//`, or `/auth/social/:provider/`
   * for `GET /auth/social/exchange/`, because only that has the method. A path that is read reserves its name for reads:
   * `PATCH /v1/posts/cursor` belongs to `/v1/posts/:id`.
   */
  isMisrouted({ method, params, url }: FastifyRequest): boolean {
    if (Object.keys(params as object).length === 0) return false;
    const methods = this.find(url);
    return !methods?.has(method) && !methods?.has('GET');
  }

  private find(url: string): Set<string> | undefined {
    const found = this.router.find('GET', url.replace(/[?#].*/s, ''));
    if (!found) return undefined;
    // The router lets a parameter be empty; `*` may be.
    const isEmpty = Object.entries(found.params).some(([name, value]) => value === '' && name !== '*');
    return isEmpty ? undefined : (found.store as Set<string>);
  }

  /** Whether the route of a request has the flag; for one without a route, whether all routes of its area have it. */
  has(flag: 'noStore' | 'forProbes', request: FastifyRequest): boolean {
    if (!request.is404) return request.routeOptions.config[flag] === true;
    const routes = this.areas.get(areaOf(request.url));
    return routes?.every(({ config }) => config?.[flag]) ?? false;
  }
}

/** The first segment of a path: `auth` of `/auth/login/?next=1`, also behind an origin (RFC 9112, section 3.2.2). */
const areaOf = (url: string): string => /^(?:https?:\/\/[^/?#]*)?\/([^/?#]*)/i.exec(url)?.[1] ?? '';

/**
 * Collects the routes that are registered after it. Each gets the application's error handler, which Nest sets after
 * it has registered the routes: Fastify would keep the one that was set before.
 */
export const routes = fastifyPlugin(
  (fastify, _options, done) => {
    const all = new Routes();
    fastify.decorate('routes', all);
    fastify.addHook('onRoute', (route) => {
      all.add(route);
      route.errorHandler ??= (error, request, reply) => fastify.errorHandler(error, request, reply);
    });
    done();
  },
  { name: 'routes' },
);
