// The public interface of mails about accounts.
export { AccountMails, mailOwnersOf } from './account-mails.js';
export { AccountMailsModule } from './account-mails.module.js';
export { AccountToken } from './account-token.entity.js';
export { AccountTokens } from './account-tokens.js';
export { MailLimits } from './mail-limits.js';
