import { RouteConfig } from '@nestjs/platform-fastify';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Set by {@link Audited}. */
    audited?: boolean;
  }
}

/** A GET that changes something has its entries in the audit log, too, as every other method has by itself. */
export const Audited = (): MethodDecorator => RouteConfig({ audited: true });
