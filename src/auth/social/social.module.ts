import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { Purger } from '../../common/purge/purger.js';
import { AccountsModule } from '../accounts/index.js';
import { TokensModule } from '../tokens/index.js';
import { LoginCode } from './login-code.entity.js';
import { LoginCodes } from './login-codes.js';
import { LoginFlows } from './login-flows.js';
import { ProviderClients } from './provider-clients.js';
import { SocialAccounts } from './social-accounts.js';
import { SocialIdentity } from './social-identity.entity.js';
import { SocialController } from './social.controller.js';
import { SocialService } from './social.service.js';

/** Login by Google and GitHub. */
@Module({
  imports: [TypeOrmModule.forFeature([LoginCode, SocialIdentity]), AccountsModule, TokensModule],
  controllers: [SocialController],
  providers: [LoginCodes, LoginFlows, ProviderClients, SocialAccounts, SocialService],
})
export class SocialModule {
  constructor(purger: Purger) {
    purger.register('login_codes');
  }
}
