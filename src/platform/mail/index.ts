// The public interface of mail.
export { type MailAttempt, type MailMessage } from './mail-message.js';
export { MailModule } from './mail.module.js';
export { MailOutbox } from './mail-outbox.js';
export { MailQueue } from './mail-queue.js';
export { MailSender } from './mail-sender.js';
export * as templates from './templates/mails.js';
