// The public interface of mails about accounts.
export { AccountChanges } from './account-changes.js';
export { AccountMails } from './account-mails.js';
export { AccountMailsModule } from './account-mails.module.js';
export { invalidCode, MailTokens } from './mail-tokens.js';
