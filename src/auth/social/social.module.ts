import { Module } from '@nestjs/common';
import { AccountsModule } from '../accounts/index.js';
import { AccountMailsModule } from '../account-mails/index.js';
import { FactorsModule } from '../factors/index.js';
import { TokensModule } from '../tokens/index.js';
import { LoginsModule } from '../logins/index.js';
import { IdentitiesController } from './identities.controller.js';
import { IdentitiesModule } from './identities.module.js';
import { FlowCookie, LoginFlows } from './login-flows.js';
import { ProviderClients } from './provider-clients.js';
import { SocialAccounts } from './social-accounts.js';
import { SocialLinks } from './social-links.js';
import { SocialController } from './social.controller.js';
import { SocialService } from './social.service.js';

/** Login with Google and GitHub. */
@Module({
  imports: [AccountMailsModule, AccountsModule, FactorsModule, IdentitiesModule, LoginsModule, TokensModule],
  controllers: [IdentitiesController, SocialController],
  providers: [FlowCookie, LoginFlows, ProviderClients, SocialAccounts, SocialLinks, SocialService],
  exports: [IdentitiesModule],
})
export class SocialModule {}
