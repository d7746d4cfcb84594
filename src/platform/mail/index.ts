// The public interface of mail.
export { MailModule } from './mail.module.js';
export { MailOutbox } from './mail-outbox.js';
export { MailQueue } from './mail-queue.js';
export { type MailAttempt, type MailComposer, MailSender } from './mail-sender.js';
export * as templates from './templates/mails.js';
