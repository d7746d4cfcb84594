import { Module } from '@nestjs/common';
import { PasswordModule } from '../password/password.module.js';
import { TotpModule } from '../totp/totp.module.js';
import { LoginSteps } from './login-steps.js';

/** What every way to log in passes: the first step, and a second one if the account has a second factor. */
@Module({
  imports: [PasswordModule, TotpModule],
  providers: [LoginSteps],
  exports: [LoginSteps],
})
export class LoginModule {}
