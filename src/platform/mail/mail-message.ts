/** A mail that is ready to send. */
export interface MailMessage {
  readonly to: { readonly address: string; readonly name?: string };
  readonly subject: string;
  readonly text: string;
  readonly html: string;
  /** The target of its link, for the log in development. */
  readonly link?: string | undefined;
}

/** An attempt to send a mail. */
export interface MailAttempt {
  /** Whether the mail is still to be sent: not if it was discarded, or if another process has taken it over. */
  isCurrent(): Promise<boolean>;
}

/**
 * Composes a mail right before each attempt to send it.
 *
 * @param data what was recorded with the mail
 * @returns `undefined` if there is nothing to send any more, for example because the account was deleted
 */
export type MailComposer<Data = any> = (data: Data, attempt: MailAttempt) => Promise<MailMessage | undefined>;
