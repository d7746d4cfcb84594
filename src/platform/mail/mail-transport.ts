import { once } from 'node:events';
import { mkdir, readdir, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Injectable, Logger } from '@nestjs/common';
import { createTransport, type SendMailOptions } from 'nodemailer';
import { Clock } from '../jobs/clock.js';
import { Config, type MailAddress, type MailSettings } from '../config/config.js';

/** A mail that is ready to send. */
export interface MailMessage {
  readonly to: { readonly address: string; readonly name?: string };
  readonly subject: string;
  readonly text: string;
  readonly html: string;
  /** The target of its link, for the log in development. */
  readonly link?: string | undefined;
}

/** Of one attempt, in milliseconds; less than the lease of a mail. */
const DEADLINE = 30_000;

/** In milliseconds: a mail server that hangs does not delay an attempt until its deadline. */
const TIMEOUTS = {
  dnsTimeout: 10_000,
  connectionTimeout: 10_000,
  greetingTimeout: 10_000,
  socketTimeout: 20_000,
};

/** How many mails the folder for development keeps: the newest. */
const FILES = 100;

type Mail = SendMailOptions & { readonly messageId: string } & Pick<MailMessage, 'text' | 'html'>;

/** @param link the target of the mail's link */
type Deliver = (mail: Mail, id: string, link: string | undefined) => Promise<void>;

/** Delivers mails to the mail server, or to a folder for development. */
@Injectable()
export class MailTransport {
  private readonly logger = new Logger('Mail');
  private readonly deliver: Deliver;
  private readonly from: MailAddress;

  constructor(
    { mail }: Config,
    private readonly clock: Clock,
  ) {
    this.from = mail.kind === 'none' ? { name: '', address: '' } : mail.from;
    this.deliver = mail.kind === 'smtp' ? overSmtp(mail) : this.intoFolder(mail);
  }

  /**
   * Resolves when the mail server has accepted the mail.
   *
   * @param id of the mail: receivers recognize a repeated attempt by its `Message-ID`
   */
  async send(id: string, message: MailMessage): Promise<void> {
    const { to, subject, text, html, link } = message;
    const mail = {
      // A copy, because nodemailer modifies it.
      from: { ...this.from },
      to: { name: to.name ?? '', address: to.address },
      subject,
      text,
      html,
      messageId: `<${id}@${this.from.address.split('@').at(-1)}>`,
      date: this.clock.now(),
      // RFC 3834: prevents out-of-office replies.
      headers: { 'Auto-Submitted': 'auto-generated' },
      disableFileAccess: true,
      disableUrlAccess: true,
    };
    const late = once(AbortSignal.timeout(DEADLINE), 'abort').then(() => {
      throw Object.assign(new Error('Timed out'), { code: 'ETIMEDOUT' });
    });
    await Promise.race([this.deliver(mail, id, link), late]);
  }

  private intoFolder(mail: MailSettings): Deliver {
    const composer = createTransport({ streamTransport: true, buffer: true });
    return async (options, id, link) => {
      if (mail.kind !== 'folder') throw new Error('Mail is not configured');
      const { message } = await composer.sendMail({
        ...options,
        text: { raw: readablePart('text/plain', options.text) },
        html: { raw: readablePart('text/html', options.html) },
      });
      await mkdir(mail.directory, { recursive: true, mode: 0o700 });
      // The names have the order of time.
      const time = this.clock.now().toISOString().replaceAll(':', '-');
      const file = join(mail.directory, `${time}-${id}.eml`);
      // Programs that watch the folder never see a partial file.
      await writeFile(`${file}.tmp`, message as Buffer, { mode: 0o600 });
      await rename(`${file}.tmp`, file);
      const names = (await readdir(mail.directory)).filter((name) => name.endsWith('.eml')).toSorted();
      for (const old of names.slice(0, -FILES)) await rm(join(mail.directory, old), { force: true });
      // The file has the token as well; in production, there is no folder for mails.
      this.logger.log(`A mail was written to ${file}${link === undefined ? '' : `; its link is ${link}`}`);
    };
  }
}

/** A part as it is: with quoted-printable, which nodemailer uses, a link cannot be copied from the file. */
const readablePart = (type: string, text: string): string =>
  `Content-Type: ${type}; charset=utf-8\r\nContent-Transfer-Encoding: 8bit\r\n\r\n${text.replaceAll(/\r?\n/g, '\r\n')}`;

function overSmtp({ url }: Extract<MailSettings, { kind: 'smtp' }>): Deliver {
  const { username, hostname, searchParams } = new URL(url);
  const isLocal = /^(localhost|127(\.\d+){3}|\[::1\])$/.test(hostname);
  // Otherwise an attacker on the network could make the client send its password without encryption.
  const requireTLS = username !== '' && !isLocal && !searchParams.has('requireTLS');
  const server = createTransport({ url, ...TIMEOUTS, ...(requireTLS && { requireTLS }) });
  return async (options) => {
    await server.sendMail(options);
  };
}

/** The parts of an error that may be logged: texts of servers repeat addresses. */
export function describeMailError(error: unknown): string {
  const { name, code, responseCode, command } = error as Error & {
    readonly code?: string;
    readonly responseCode?: number;
    readonly command?: string;
  };
  return [name, code, responseCode, command].filter((word) => word !== undefined).join(' ');
}
