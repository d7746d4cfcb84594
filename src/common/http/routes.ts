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

type HookName = 'onRequest' | 'preSerialization' | 'preHandler' | 'onSend' | 'onResponse';

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
    const path = withoutSlash(url.replaceAll(/:[^/]+/g, ':parameter'));
    let methods = this.methods.get(path);
    if (!methods) {
      this.methods.set(path, (methods = new Set()));
      this.router.on('GET', path, () => undefined, methods);
    }
    // Apollo and `@All()` register OPTIONS, which is rejected unless it is a preflight.
    for (const name of [route.method].flat()) if (name !== 'OPTIONS') methods.add(name);
  }

  /** The methods of a path, sorted; `undefined` for an unknown path. */
  methodsOf(path: string): readonly string[] | undefined {
    const known = this.router.find('GET', path);
    const isKnown = known && Object.values(known.params).every((value) => value !== '');
    return isKnown ? [...(known.store as Set<string>)].toSorted() : undefined;
  }

  /**
   * Whether the router has taken a path for the parameter of another one, because only that has the method: for
   * `GET /auth/social/exchange/` it finds `/auth/social/:provider/`. A path that is read reserves its name for reads:
   * `PATCH /v1/posts/cursor` belongs to `/v1/posts/:id`.
   */
  isFallback({ method, url }: FastifyRequest): boolean {
    const methods = this.methods.get(withoutSlash(pathOf(url)));
    return methods !== undefined && !methods.has(method) && !methods.has('GET');
  }

  /** Whether the route of a request has the flag; for one without a route, whether all routes of its area have it. */
  has(flag: 'noStore' | 'forProbes', request: FastifyRequest): boolean {
    if (!request.is404) return request.routeOptions.config[flag] === true;
    const routes = this.areas.get(areaOf(request.url));
    return routes?.every(({ config }) => config?.[flag]) ?? false;
  }
}

/** The path of a URL, which may have an origin (RFC 9112, section 3.2.2). */
const pathOf = (url: string): string => url.replace(/[?#].*/s, '').replace(/^https?:\/\/[^/]*/i, '');

const withoutSlash = (path: string): string =>
  path.length > 1 && path.endsWith('/') ? path.slice(0, -1) : path;

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
