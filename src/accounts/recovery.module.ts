import { Module } from '@nestjs/common';
import { AccountMailsModule } from './account-mails.module.js';
import { AccountsModule } from './accounts.module.js';
import { EmailChanges } from './email-changes.js';
import { EmailVerification } from './email-verification.js';
import { EmailController } from './email.controller.js';

/** The e-mail address of accounts. */
@Module({
  imports: [AccountsModule, AccountMailsModule],
  controllers: [EmailController],
  providers: [EmailChanges, EmailVerification],
})
export class RecoveryModule {}
