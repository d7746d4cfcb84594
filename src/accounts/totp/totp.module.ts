import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { AccountData, RecentLogins } from '../../platform/access/index.js';
import { EncryptedColumns, EncryptionModule } from '../../platform/encryption/index.js';
import { AccountChanges } from '../account-changes.js';
import { type Account } from '../account.entity.js';
import { PasswordModule } from '../password/password.module.js';
import { CodeChecks } from './code-checks.js';
import { FactorsController } from './factors.controller.js';
import { TotpFactor } from './totp-factor.entity.js';
import { TotpFactors } from './totp-factors.js';
import { TotpService } from './totp.service.js';

/** Authenticator apps and recovery codes. */
@Module({
  imports: [TypeOrmModule.forFeature([TotpFactor]), PasswordModule, EncryptionModule],
  controllers: [FactorsController],
  providers: [CodeChecks, TotpFactors, TotpService],
  exports: [CodeChecks],
})
export class TotpModule {
  constructor(
    data: AccountData,
    recent: RecentLogins,
    columns: EncryptedColumns,
    factors: TotpFactors,
    checks: CodeChecks,
    changes: AccountChanges,
  ) {
    const remove = async (account: Account, reason: string) => {
      const security = ['factor_changed', reason] as const;
      if (account.hasSecondFactor) await changes.report(account, { notice: 'factor-removed', security });
      await factors.remove(account.id);
    };
    data.register({
      tables: ['totp_factors'],
      otherAccess: async ({ hasSecondFactor }) => (hasSecondFactor ? 1 : 0),
      onOwnerConfirmed: (account) => factors.markUnconfirmed(account),
      onReset: async (account) => {
        if (!account.isOwnerConfirmed || (await factors.hasUnconfirmed(account)))
          await remove(account, 'removed by a reset of the password');
      },
      onDevicesLost: (account) => remove(account, 'reset by staff'),
    });
    recent.register({
      code: (account, code, client) => checks.check(account, code, client, { work: async () => undefined }),
    });
    columns.register('totp_factors', 'secret', 'account_id');
  }
}
