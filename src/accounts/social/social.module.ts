import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { AccountData, exportOf } from '../../platform/access/index.js';
import { AccountChanges } from '../account-changes.js';
import { type Account } from '../account.entity.js';
import { AccountsModule } from '../accounts.module.js';
import { LoginModule } from '../login/login.module.js';
import { TokensModule } from '../tokens/tokens.module.js';
import { IdentitiesController } from './identities.controller.js';
import { IdentitiesService } from './identities.service.js';
import { toIdentityView } from './identity.view.js';
import { LoginCodes } from './login-codes.js';
import { FlowCookie, LoginFlows } from './login-flows.js';
import { ProviderClients } from './provider-clients.js';
import { SocialAccounts } from './social-accounts.js';
import { SocialController } from './social.controller.js';
import { SocialIdentity } from './social-identity.entity.js';
import { SocialService } from './social.service.js';

/** Login with Google and GitHub. */
@Module({
  imports: [TypeOrmModule.forFeature([SocialIdentity]), AccountsModule, TokensModule, LoginModule],
  controllers: [IdentitiesController, SocialController],
  providers: [
    FlowCookie,
    IdentitiesService,
    LoginCodes,
    LoginFlows,
    ProviderClients,
    SocialAccounts,
    SocialService,
  ],
  exports: [IdentitiesService, LoginCodes],
})
export class SocialModule {
  constructor(data: AccountData, identities: IdentitiesService, codes: LoginCodes, changes: AccountChanges) {
    const removeUnconfirmed = async (account: Account) => {
      const which = { onlyUnconfirmed: account.isOwnerConfirmed };
      if (!(await identities.removeAll(account, which))) return;
      await changes.report(account, {
        notice: 'identity-removed',
        security: ['identity_changed', 'removed'],
      });
    };
    data.register({
      tables: ['social_identities'],
      exports: { identities: exportOf((id) => identities.list(id), toIdentityView) },
      waysToLogIn: (account) => identities.count(account),
      otherAccess: (account) => identities.count(account),
      onSessionsEnd: (account) => codes.endAll(account),
      onOwnerConfirmed: (account) => identities.markUnconfirmed(account),
      onReset: removeUnconfirmed,
    });
  }
}
