import { type DynamicModule, Global, Module } from '@nestjs/common';
import { Config } from './config.js';
import { ConfigError } from './config-error.js';

const GIVEN = Symbol('given configuration');

@Module({})
class GivenConfigModule {}

/** Provides the configuration to every module: `constructor(private readonly config: Config)`. */
@Global()
@Module({
  providers: [
    {
      provide: Config,
      inject: [{ token: GIVEN, optional: true }],
      useFactory: (given: Config | undefined) => {
        if (given) return given;
        throw new ConfigError(
          'AppModule has no configuration. Import AppModule.with(config), or override the provider Config, as "The application" in docs/extending.md shows',
        );
      },
    },
  ],
  exports: [Config],
})
export class ConfigModule {
  /** What `Config` is. */
  static forRoot(config: Config): DynamicModule {
    return {
      module: GivenConfigModule,
      global: true,
      providers: [{ provide: GIVEN, useValue: config }],
      exports: [GIVEN],
    };
  }
}
