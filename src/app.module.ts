import { type DynamicModule, Module, type Type } from '@nestjs/common';
import { APP_FILTER, APP_GUARD, APP_PIPE } from '@nestjs/core';
import { AccountsModule } from './accounts/accounts.module.js';
import { AuditModule } from './audit/audit.module.js';
import { AuthModule } from './auth/auth.module.js';
import { EventsModule } from './events/events.module.js';
import { HealthModule } from './health/health.module.js';
import { OrdersModule } from './orders/orders.module.js';
import { AccessGuard } from './platform/access/index.js';
import type { Config } from './platform/config/config.js';
import { ConfigModule } from './platform/config/config.module.js';
import { ErrorFilter } from './platform/http/responses/error.filter.js';
import { InputPipe } from './platform/http/validation/input.pipe.js';
import { PlatformModule } from './platform/platform.module.js';
import { PostsModule } from './posts/posts.module.js';
import { UsersModule } from './users/users.module.js';
import { WebhooksModule } from './webhooks/webhooks.module.js';

/**
 * All modules. A request passes, in this order: the steps of `pipeline.ts`, the guard of `platform/access`, the
 * interceptors of its route (such as that of `idempotency`), the pipe of `platform/http/validation`, and its handler. The
 * filter below handles every error on the way.
 */
@Module({
  imports: [
    PlatformModule,
    HealthModule,
    EventsModule,
    UsersModule,
    PostsModule,
    OrdersModule,
    WebhooksModule,
    AccountsModule,
    AuthModule,
    AuditModule,
  ],
  providers: [
    // The guards of this module run first, so that `request.user` is set for all others.
    { provide: APP_GUARD, useExisting: AccessGuard },
    { provide: APP_PIPE, useClass: InputPipe },
    { provide: APP_FILTER, useClass: ErrorFilter },
  ],
})
export class AppModule {
  /** @param more further modules; tests add routes of their own */
  static with(config: Config, more: readonly Type[] = []): DynamicModule {
    return { module: AppModule, imports: [ConfigModule.forRoot(config), ...more] };
  }
}
