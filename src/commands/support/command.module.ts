import { type DynamicModule, Global, Module, type Type } from '@nestjs/common';
import { Registry } from 'prom-client';
import { Clock } from '../../common/ports/clock.js';
import { SecurityEvents } from '../../common/ports/security-events.js';
import { AccountData } from '../../common/retention/account-data.js';
import { Purger } from '../../common/retention/purger.js';
import { Config } from '../../config/config.js';
import { ConfigModule } from '../../config/config.module.js';
import type { CommandConfig } from '../../config/load-command-config.js';
import { DatabaseModule } from '../../database/database.module.js';

/**
 * The modules of a command, with what they have from `CommonModule` and `DatabaseModule` in the service. Import only
 * modules that neither serve, schedule nor send, and that use no setting outside of `CommandConfig`.
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
  static with(config: CommandConfig, modules: readonly Type[]): DynamicModule {
    return {
      module: CommandModule,
      imports: [ConfigModule.forRoot(config as Config), DatabaseModule.forCommand(), ...modules],
    };
  }
}
