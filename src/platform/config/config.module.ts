import { type DynamicModule, Module } from '@nestjs/common';
import { Config } from './config.js';

/** Provides the configuration to every module: `constructor(private readonly config: Config)`. */
@Module({})
export class ConfigModule {
  static forRoot(config: Config): DynamicModule {
    return {
      module: ConfigModule,
      global: true,
      providers: [{ provide: Config, useValue: config }],
      exports: [Config],
    };
  }
}
