// The public interface of mail.
export { render } from './layout.js';
export { MailModule } from './mail.module.js';
export { MailOutbox } from './mail-outbox.js';
export { MailQueue } from './mail-queue.js';
export { type MailAttempt, type MailComposer, MailSender } from './mail-sender.js';
export type { MailMessage } from './mail-transport.js';
