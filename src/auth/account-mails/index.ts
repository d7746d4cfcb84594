// The public interface of mails about accounts.
export { AccountMails } from './account-mails.js';
export { AccountMailsModule, AccountTokensModule } from './account-mails.module.js';
export { AccountTokens } from './account-tokens.js';
export { MailLimits } from './mail-limits.js';
