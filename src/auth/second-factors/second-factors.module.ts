import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { AccountData, rowsOf } from '../../platform/jobs/account-data.js';
import { Purger } from '../../platform/jobs/purger.js';
import { EncryptedColumns, EncryptionModule } from '../../platform/encryption/index.js';
import { AccountTokensModule } from '../account-mails/index.js';
import { AccountsModule } from '../accounts/index.js';
import { LoginChallenge } from './login-challenge.entity.js';
import { RecoveryCode } from './recovery-code.entity.js';
import { SecondFactors } from './second-factors.js';
import { TotpFactor } from './totp-factor.entity.js';

/** What is stored about second factors. Nothing in it sends, so commands may use it. */
@Module({
  imports: [
    TypeOrmModule.forFeature([LoginChallenge, RecoveryCode, TotpFactor]),
    AccountsModule,
    AccountTokensModule,
    EncryptionModule,
  ],
  providers: [SecondFactors],
  exports: [SecondFactors, TypeOrmModule],
})
export class SecondFactorsModule {
  constructor(purger: Purger, accountData: AccountData, columns: EncryptedColumns) {
    purger.register('login_challenges');
    accountData.register(rowsOf('login_challenges'), rowsOf('recovery_codes'), rowsOf('totp_factors'));
    columns.register('totp_factors', ['secret'], 'account_id');
  }
}
