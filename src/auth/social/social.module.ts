import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { AccountData, rowsOf } from '../../common/retention/account-data.js';
import { Purger } from '../../common/retention/purger.js';
import { AccountsModule } from '../accounts/index.js';
import { TokensModule } from '../tokens/index.js';
import { LoginsModule } from '../logins/index.js';
import { IdentitiesController } from './identities.controller.js';
import { LoginCode } from './login-code.entity.js';
import { LoginCodes } from './login-codes.js';
import { LoginFlows } from './login-flows.js';
import { ProviderClients } from './provider-clients.js';
import { SocialAccounts } from './social-accounts.js';
import { SocialIdentities } from './social-identities.js';
import { SocialIdentity } from './social-identity.entity.js';
import { SocialLinks } from './social-links.js';
import { SocialController } from './social.controller.js';
import { SocialService } from './social.service.js';

export const SOCIAL_ERASURES = [rowsOf('login_codes'), rowsOf('social_identities')];

/** Login with Google and GitHub. */
@Module({
  imports: [
    TypeOrmModule.forFeature([LoginCode, SocialIdentity]),
    AccountsModule,
    LoginsModule,
    TokensModule,
  ],
  controllers: [IdentitiesController, SocialController],
  providers: [
    LoginCodes,
    LoginFlows,
    ProviderClients,
    SocialAccounts,
    SocialIdentities,
    SocialLinks,
    SocialService,
  ],
  exports: [LoginCodes, SocialIdentities],
})
export class SocialModule {
  constructor(purger: Purger, accountData: AccountData) {
    purger.register('login_codes');
    accountData.register(...SOCIAL_ERASURES);
  }
}
