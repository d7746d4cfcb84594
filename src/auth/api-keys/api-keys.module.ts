import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { AccountData, exportOf, rowsOf } from '../../platform/jobs/account-data.js';
import { CredentialWatch } from '../../platform/access/index.js';
import { AccountMailsModule } from '../account-mails/index.js';
import { AccountsModule } from '../accounts/index.js';
import { LoginsModule } from '../logins/index.js';
import { ApiKey } from './api-key.entity.js';
import { toApiKeyView } from './api-key.view.js';
import { ApiKeyStrategy } from './api-key.strategy.js';
import { ApiKeys } from './api-keys.js';
import { ApiKeysController } from './api-keys.controller.js';
import { ApiKeysService } from './api-keys.service.js';

/** What is stored about API keys. Commands use it. */
@Module({
  imports: [TypeOrmModule.forFeature([ApiKey])],
  providers: [ApiKeys],
  exports: [ApiKeys, TypeOrmModule],
})
export class StoredApiKeysModule {
  constructor(accountData: AccountData, keys: ApiKeys) {
    accountData.register(rowsOf('api_keys'));
    accountData.registerExport(
      'api_keys',
      exportOf((id) => keys.list(id), toApiKeyView),
    );
  }
}

/** API keys: programs act as an account with them. */
@Module({
  imports: [AccountMailsModule, AccountsModule, LoginsModule, StoredApiKeysModule],
  controllers: [ApiKeysController],
  providers: [ApiKeyStrategy, ApiKeysService],
  exports: [StoredApiKeysModule],
})
export class ApiKeysModule {
  constructor(watch: CredentialWatch, keys: ApiKeys) {
    watch.register({ idOf: ({ keyId }) => keyId, rightsOf: (ids) => keys.rightsOf(ids) });
  }
}
