import { type DynamicModule, Global, Module, type Type } from '@nestjs/common';
import { Registry } from 'prom-client';
import { Clock } from '../../platform/jobs/clock.js';
import { SecurityEvents } from '../../platform/http/security-events.js';
import { AccountData } from '../../platform/jobs/account-data.js';
import { Purger } from '../../platform/jobs/purger.js';
import { Config } from '../../platform/config/config.js';
import { ConfigModule } from '../../platform/config/config.module.js';

import { DatabaseModule } from '../../platform/database/database.module.js';

/**
 * The modules of a command, with what they have from `PlatformModule` and `DatabaseModule` in the service. Import only
 * modules that neither serve, schedule nor send.
 */
@Global()
@Module({
  providers: [
    AccountData,
    Clock,
    Purger,
    Registry,
    {
      provide: SecurityEvents,
      inject: [Config, Registry],
      useFactory: (config: Config, registry: Registry) =>
        new SecurityEvents(config, () => undefined, registry),
    },
  ],
  exports: [AccountData, Clock, Purger, Registry, SecurityEvents],
})
export class CommandModule {
  static with(config: Config, modules: readonly Type[]): DynamicModule {
    const database = DatabaseModule.forCommand();
    return {
      module: CommandModule,
      imports: [ConfigModule.forRoot(config), database, ...modules],
      exports: [database],
    };
  }
}
