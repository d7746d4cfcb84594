import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { AccountsModule } from '../accounts.module.js';
import { ApiKey } from './api-key.entity.js';
import { ApiKeyStrategy } from './api-key.strategy.js';
import { ApiKeysController } from './api-keys.controller.js';
import { ApiKeysService } from './api-keys.service.js';

/** API keys: programs act as an account with them. */
@Module({
  imports: [TypeOrmModule.forFeature([ApiKey]), AccountsModule],
  controllers: [ApiKeysController],
  providers: [ApiKeyStrategy, ApiKeysService],
})
export class ApiKeyModule {}
