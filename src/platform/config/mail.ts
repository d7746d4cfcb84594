import { join } from 'node:path';
import { SERVICE } from './package.js';
import { isSmtpAddress } from './rules.js';
import { secret, setting, text, textThat, type ValuesOf } from './settings.js';

/** The sender of mails. */
export interface MailAddress {
  readonly name: string;
  readonly address: string;
}

/** The transport of mail: SMTP, a folder for development, or none. */
export type MailSettings =
  | {
      readonly kind: 'smtp';
      /** Contains a secret, so it is never logged. */
      readonly url: string;
      readonly from: MailAddress;
    }
  | { readonly kind: 'folder'; readonly directory: string; readonly from: MailAddress }
  | { readonly kind: 'none' };

/** The sender of mails that are only written to a folder. */
const DEVELOPMENT_SENDER = { name: SERVICE.title, address: 'no-reply@localhost' };

/** `address@host` or `Name <address@host>`, on one line; the name may be in quotes, and need not be. */
const SENDER =
  /^(?:(?<name>[^<>\p{Cc}]*?)\s*<(?<inner>[^\s<>@]+@[^\s<>@]+)>|(?<address>[^\s<>@,"]+@[^\s<>@,"]+))$/u;

function toSender(value: string): MailAddress {
  const { name = '', inner, address = '' } = SENDER.exec(value)!.groups!;
  const quoted = /^"(.*)"$/.exec(name)?.[1]?.replaceAll(/\\(.)/g, '$1');
  return Object.freeze({ name: quoted ?? name, address: inner ?? address });
}

export const MAIL_SETTINGS = {
  smtpUrl: secret(
    'SMTP_URL',
    textThat(
      isSmtpAddress,
      'must be the address of a mail server, smtp://user:password@host:port or smtps://…',
    ).optional(),
  ),
  mailFrom: setting(
    'MAIL_FROM',
    text()
      .regex(SENDER, { error: 'must be an e-mail address, or a name and an address: Name <address>' })
      .transform(toSender)
      .optional(),
  ),
};

export function toMail(
  { smtpUrl: url, mailFrom: from = Object.freeze(DEVELOPMENT_SENDER) }: ValuesOf<typeof MAIL_SETTINGS>,
  { production, dataDirectory }: { readonly production: boolean; readonly dataDirectory: string },
): MailSettings {
  if (url !== undefined) return Object.freeze({ kind: 'smtp', url, from });
  if (production) return Object.freeze({ kind: 'none' });
  return Object.freeze({ kind: 'folder', directory: join(dataDirectory, 'mail'), from });
}
