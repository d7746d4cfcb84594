import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { AccountData, exportOf } from '../../platform/access/index.js';
import { AccountChanges } from '../account-changes.js';
import { type Account } from '../account.entity.js';
import { LoginModule } from '../login/login.module.js';
import { PasswordModule } from '../password/password.module.js';
import { TokensModule } from '../tokens/tokens.module.js';
import { Challenges } from './challenges.js';
import { PasskeyLogins } from './passkey-logins.js';
import { Passkey } from './passkey.entity.js';
import { toPasskeyView } from './passkey.view.js';
import { PasskeysController } from './passkeys.controller.js';
import { PasskeysService } from './passkeys.service.js';
import { WebAuthn } from './webauthn.js';

/** Passkeys: their registration, and logins with them. */
@Module({
  imports: [TypeOrmModule.forFeature([Passkey]), PasswordModule, LoginModule, TokensModule],
  controllers: [PasskeysController],
  providers: [Challenges, PasskeyLogins, PasskeysService, WebAuthn],
  exports: [PasskeyLogins],
})
export class PasskeyModule {
  constructor(data: AccountData, passkeys: PasskeysService, changes: AccountChanges) {
    const remove = async (account: Account, which: { onlyUnconfirmed: boolean }) => {
      if (!(await passkeys.removeAll(account, which))) return;
      await changes.report(account, { notice: 'passkey-removed', security: ['passkey_changed', 'removed'] });
    };
    data.register({
      tables: ['passkeys'],
      exports: { passkeys: exportOf((id) => passkeys.list(id), toPasskeyView) },
      counts: { passkeys: (account) => passkeys.count(account) },
      waysToLogIn: (account) => passkeys.count(account),
      otherAccess: (account) => passkeys.count(account),
      onOwnerConfirmed: (account) => passkeys.markUnconfirmed(account),
      onReset: (account) => remove(account, { onlyUnconfirmed: account.isOwnerConfirmed }),
      onDevicesLost: (account) => remove(account, { onlyUnconfirmed: false }),
    });
  }
}
