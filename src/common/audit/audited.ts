import { ConfigureRoute } from '../http/configure-route.js';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Set by {@link Audited}. */
    audited?: boolean;
  }
}

/** A GET that changes data gets entries in the audit log, like every other method. */
export const Audited = (): MethodDecorator => ConfigureRoute({ audited: true });
