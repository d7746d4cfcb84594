import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { AccountData, exportOf, rowsOf } from '../../platform/jobs/account-data.js';
import { Purger } from '../../platform/jobs/purger.js';
import { AccountMailsModule } from '../account-mails/index.js';
import { AccountsModule } from '../accounts/index.js';
import { LoginsModule } from '../logins/index.js';
import { Challenges } from './challenges.js';
import { Passkey } from './passkey.entity.js';
import { toPasskeyView } from './passkey.view.js';
import { PasskeyLogins } from './passkey-logins.js';
import { Passkeys } from './passkeys.js';
import { PasskeysController } from './passkeys.controller.js';
import { PasskeysService } from './passkeys.service.js';
import { RelyingParty } from './relying-party.js';
import { UsedChallenge } from './used-challenge.entity.js';

/** What is stored about passkeys. Commands use it. */
@Module({
  imports: [TypeOrmModule.forFeature([Passkey, UsedChallenge]), AccountsModule],
  providers: [Passkeys],
  exports: [Passkeys, TypeOrmModule],
})
export class StoredPasskeysModule {
  constructor(purger: Purger, accountData: AccountData, passkeys: Passkeys) {
    purger.register('used_challenges');
    accountData.register(rowsOf('passkeys'));
    accountData.registerExport(
      'passkeys',
      exportOf((id) => passkeys.list(id), toPasskeyView),
    );
  }
}

/** Passkeys: their registration, and logins with them. */
@Module({
  imports: [AccountMailsModule, AccountsModule, LoginsModule, StoredPasskeysModule],
  controllers: [PasskeysController],
  providers: [Challenges, PasskeyLogins, PasskeysService, RelyingParty],
  exports: [PasskeyLogins, StoredPasskeysModule],
})
export class PasskeysModule {}
