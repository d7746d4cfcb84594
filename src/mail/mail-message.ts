/** A mail as it leaves. */
export interface MailMessage {
  readonly to: { readonly address: string; readonly name?: string };
  readonly subject: string;
  readonly text: string;
  readonly html: string;
}

/**
 * Writes a mail when it is about to be sent, at each attempt.
 *
 * @param data what the mail was recorded with
 * @returns `undefined` when there is nothing to send any more, such as to an account that is gone
 */
export type MailComposer<Data = any> = (data: Data) => Promise<MailMessage | undefined>;
