import { Module } from '@nestjs/common';
import { AccountMailsModule } from '../account-mails/index.js';
import { AccountsModule } from '../accounts/index.js';
import { LoginsModule } from '../logins/index.js';
import { PasskeysModule } from '../passkeys/index.js';
import { SecondFactorsModule } from '../second-factors/index.js';
import { FactorsController } from './factors.controller.js';
import { FactorsService } from './factors.service.js';
import { LoginSteps } from './login-steps.js';

/** Second factors of accounts, and logins in two steps. */
@Module({
  imports: [AccountMailsModule, AccountsModule, LoginsModule, PasskeysModule, SecondFactorsModule],
  controllers: [FactorsController],
  providers: [FactorsService, LoginSteps],
  exports: [LoginSteps],
})
export class FactorsModule {}
