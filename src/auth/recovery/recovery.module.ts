import { Module } from '@nestjs/common';
import { AccountMailsModule } from '../account-mails/index.js';
import { AccountsModule } from '../accounts/index.js';
import { ApiKeysModule } from '../api-keys/index.js';
import { LoginsModule } from '../logins/index.js';
import { PasskeysModule } from '../passkeys/index.js';
import { SecondFactorsModule } from '../second-factors/index.js';
import { SocialModule } from '../social/index.js';
import { EmailChanges } from './email-changes.js';
import { EmailVerification } from './email-verification.js';
import { EmailController } from './email.controller.js';
import { PasswordResetController } from './password-reset.controller.js';
import { PasswordResets } from './password-resets.js';

/** What links in mails do: verify and change the e-mail address, and reset the password. */
@Module({
  imports: [
    AccountsModule,
    AccountMailsModule,
    ApiKeysModule,
    LoginsModule,
    PasskeysModule,
    SecondFactorsModule,
    SocialModule,
  ],
  controllers: [EmailController, PasswordResetController],
  providers: [EmailChanges, EmailVerification, PasswordResets],
})
export class RecoveryModule {}
