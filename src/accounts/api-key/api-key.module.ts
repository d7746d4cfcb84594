import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { AccountsModule } from '../accounts.module.js';
import { AccountData, CredentialWatch, exportOf } from '../../platform/access/index.js';
import { AccountChanges } from '../account-changes.js';
import { ApiKey } from './api-key.entity.js';
import { ApiKeyStrategy } from './api-key.strategy.js';
import { toApiKeyView } from './api-key.view.js';
import { ApiKeysController } from './api-keys.controller.js';
import { ApiKeysService } from './api-keys.service.js';

/** API keys: programs act as an account with them. */
@Module({
  imports: [TypeOrmModule.forFeature([ApiKey]), AccountsModule],
  controllers: [ApiKeysController],
  providers: [ApiKeyStrategy, ApiKeysService],
})
export class ApiKeyModule {
  constructor(data: AccountData, watch: CredentialWatch, keys: ApiKeysService, changes: AccountChanges) {
    data.register({
      tables: ['api_keys'],
      exports: { api_keys: exportOf((id) => keys.list(id), toApiKeyView) },
      otherAccess: (account) => keys.count(account),
      onRevocation: async (account) => {
        if (!(await keys.removeAll(account))) return;
        await changes.report(account, { notice: 'api-key-removed', security: ['api_key_removed', 'all'] });
      },
    });
    watch.register({ idOf: ({ keyId }) => keyId, rightsOf: (ids) => keys.rightsOf(ids) });
  }
}
