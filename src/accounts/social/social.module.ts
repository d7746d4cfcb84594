import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { AccountsModule } from '../accounts.module.js';
import { LoginModule } from '../login/login.module.js';
import { TokensModule } from '../tokens/tokens.module.js';
import { IdentitiesController } from './identities.controller.js';
import { IdentitiesService } from './identities.service.js';
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
export class SocialModule {}
