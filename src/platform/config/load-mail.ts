import { join } from 'node:path';
import { z } from 'zod';
import type { MailSenderAddress, MailSettings } from './config.js';

/** The sender of mails that are only written to a folder. */
const DEVELOPMENT_SENDER = { name: 'Posts API', address: 'no-reply@localhost' };

function isSmtpAddress(value: string): boolean {
  if (!URL.canParse(value)) return false;
  const { protocol, hostname } = new URL(value);
  return /^smtps?:$/.test(protocol) && hostname !== '';
}

/** `address@host` or `Name <address@host>`, on one line; the name may be in quotes, and need not be. */
const SENDER =
  /^(?:(?<name>[^<>\p{Cc}]*?)\s*<(?<inner>[^\s<>@]+@[^\s<>@]+)>|(?<address>[^\s<>@,"]+@[^\s<>@,"]+))$/u;

function toSender(text: string): MailSenderAddress {
  const { name = '', inner, address = '' } = SENDER.exec(text)!.groups!;
  const quoted = /^"(.*)"$/.exec(name)?.[1]?.replaceAll(/\\(.)/g, '$1');
  return { name: quoted ?? name, address: inner ?? address };
}

export const mailSettings = z.object({
  SMTP_URL: z
    .string()
    .refine(isSmtpAddress, {
      error: 'must be the address of a mail server, smtp://user:password@host:port or smtps://…',
    })
    .optional(),
  MAIL_FROM: z
    .string()
    .regex(SENDER, { error: 'must be an e-mail address, or a name and an address: Name <address>' })
    .optional(),
});

type MailEnvironment = z.infer<typeof mailSettings>;

/** Missing settings. Empty variables count as absent. */
export const mailFaults = (env: Readonly<Record<string, unknown>>): string[] =>
  env['SMTP_URL'] && !env['MAIL_FROM'] ? ['MAIL_FROM must be set together with SMTP_URL'] : [];

export function toMail(
  { SMTP_URL, MAIL_FROM }: MailEnvironment,
  { production, directory }: { readonly production: boolean; readonly directory: string },
): MailSettings {
  const from = Object.freeze(MAIL_FROM === undefined ? DEVELOPMENT_SENDER : toSender(MAIL_FROM));
  if (SMTP_URL !== undefined) return Object.freeze({ kind: 'smtp', url: SMTP_URL, from });
  if (production) return Object.freeze({ kind: 'none' });
  return Object.freeze({ kind: 'folder', directory: join(directory, 'mail'), from });
}
