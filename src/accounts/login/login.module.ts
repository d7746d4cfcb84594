import { Module } from '@nestjs/common';
import { AccountsModule } from '../accounts.module.js';
import { PasswordModule } from '../password/password.module.js';
import { TotpModule } from '../totp/totp.module.js';
import { LoginSteps } from './login-steps.js';

/** What every way to log in passes. */
@Module({
  imports: [AccountsModule, PasswordModule, TotpModule],
  providers: [LoginSteps],
  exports: [AccountsModule, LoginSteps],
})
export class LoginModule {}
