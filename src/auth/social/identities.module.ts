import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { AccountData, exportOf, rowsOf } from '../../platform/jobs/account-data.js';
import { Purger } from '../../platform/jobs/purger.js';
import { AccountsModule } from '../accounts/index.js';
import { LoginsModule } from '../logins/index.js';
import { toIdentityView } from './identity.view.js';
import { LoginCode } from './login-code.entity.js';
import { LoginCodes } from './login-codes.js';
import { SocialIdentities } from './social-identities.js';
import { SocialIdentity } from './social-identity.entity.js';

/** What is stored about social logins. It knows no provider, so commands may use it. */
@Module({
  imports: [TypeOrmModule.forFeature([LoginCode, SocialIdentity]), AccountsModule, LoginsModule],
  providers: [LoginCodes, SocialIdentities],
  exports: [LoginCodes, SocialIdentities],
})
export class IdentitiesModule {
  constructor(purger: Purger, accountData: AccountData, identities: SocialIdentities) {
    purger.register('login_codes');
    accountData.register(rowsOf('login_codes'), rowsOf('social_identities'));
    accountData.registerExport(
      'identities',
      exportOf((id) => identities.list(id), toIdentityView),
    );
  }
}
