/** A mail that is ready to send. */
export interface MailMessage {
  readonly to: { readonly address: string; readonly name?: string };
  readonly subject: string;
  readonly text: string;
  readonly html: string;
}

/**
 * Composes a mail right before each attempt to send it.
 *
 * @param data what was recorded with the mail
 * @returns `undefined` if there is nothing to send any more, for example because the account was deleted
 */
export type MailComposer<Data = any> = (data: Data) => Promise<MailMessage | undefined>;
