// The public interface of mail.
export { MailModule } from './mail.module.js';
export { MailOutbox } from './mail-outbox.js';
export { MailQueue } from './mail-queue.js';
export { type MailAttempt, MailSender } from './mail-sender.js';
export type { MailMessage } from './mail-transport.js';
export * as templates from './templates/mails.js';
