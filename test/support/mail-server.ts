import type { AddressInfo } from 'node:net';
import PostalMime, { type Email } from 'postal-mime';
import { SMTPServer } from 'smtp-server';
import type { TestServer } from './test-server.ts';
import { until } from './until.ts';

/** The server accepts mails, rejects recipients temporarily, never responds, or disconnects in the middle of a mail. */
export type Behaviour = 'accepts' | 'rejects' | 'hangs' | 'disconnects';

/** A mail that the server has accepted. */
interface AcceptedMail {
  readonly envelope: { readonly from: string; readonly to: string[] };
  readonly bytes: Buffer;
  readonly encrypted: boolean;
}

/** An accepted mail with its parsed content. */
interface ParsedMail extends AcceptedMail {
  readonly raw: string;
  readonly mail: Email;
}

const SMTP_USER = 'posts-api';
const SMTP_PASSWORD = 'the secret of the mail server';

/** A real mail server with STARTTLS, which requires authentication. */
export class MailServer implements TestServer {
  behaviour: Behaviour = 'accepts';
  readonly arrived: AcceptedMail[] = [];
  /** All recipients, also of rejected mails. */
  readonly attempts: string[] = [];
  private readonly returned = new Map<string, number>();

  private server!: SMTPServer;

  /** It may be started again after a stop. */
  async start(port = 0): Promise<this> {
    this.server = new SMTPServer({
      authMethods: ['PLAIN', 'LOGIN'],
      logger: false,
      onAuth: ({ username, password }, _session, done) => {
        const isRight = username === SMTP_USER && password === SMTP_PASSWORD;
        done(isRight ? null : new Error('Wrong credentials'), { user: username! });
      },
      onRcptTo: ({ address }, _session, done) => this.onRecipient(address, done),
      onData: (stream, session, done) => {
        const chunks: Buffer[] = [];
        const disconnects = this.behaviour === 'disconnects';
        stream.on('data', (chunk: Buffer) => {
          chunks.push(chunk);
          if (disconnects) this.disconnect();
        });
        stream.on('end', () => {
          // The first chunk may contain the whole mail.
          if (disconnects) return;
          const { mailFrom, rcptTo } = session.envelope;
          this.arrived.push({
            envelope: {
              from: mailFrom ? mailFrom.address : '',
              to: rcptTo.map(({ address }) => address),
            },
            bytes: Buffer.concat(chunks),
            encrypted: session.secure,
          });
          done();
        });
      },
    });
    this.server.on('error', () => undefined);
    await new Promise<void>((resolve) => this.server.listen(port, '127.0.0.1', () => resolve()));
    return this;
  }

  get port(): number {
    return (this.server.server.address() as AddressInfo).port;
  }

  get settings(): Record<string, string> {
    const credentials = `${SMTP_USER}:${encodeURIComponent(SMTP_PASSWORD)}`;
    return {
      // The certificate of the server is self-signed.
      SMTP_URL: `smtp://${credentials}@127.0.0.1:${this.port}?requireTLS=true&tls.rejectUnauthorized=false`,
      MAIL_FROM: 'Posts, "the" API <no-reply@posts.example>',
    };
  }

  async stop(): Promise<void> {
    await new Promise<void>((resolve) => {
      this.server.close(() => resolve());
      this.disconnect();
    });
  }

  /** Closes the open connections. */
  disconnect(): void {
    this.server.connections.forEach((each) => each.close());
  }

  /** The accepted mails of an address, oldest first. */
  to(address: string): AcceptedMail[] {
    return this.arrived.filter(({ envelope }) => envelope.to.includes(address));
  }

  /** The next mail to an address with this subject. */
  async nextWith(address: string, subject: string): Promise<ParsedMail> {
    for (;;) {
      const parsed = await this.next(address);
      if (parsed.mail.subject === subject) return parsed;
    }
  }

  /** Waits for the next mail to an address, and returns each mail once. */
  async next(address: string): Promise<ParsedMail> {
    const index = this.returned.get(address) ?? 0;
    await until(`a mail has arrived for ${address}`, () => this.to(address).length > index);
    this.returned.set(address, index + 1);
    const accepted = this.to(address)[index]!;
    return {
      ...accepted,
      raw: accepted.bytes.toString('latin1'),
      mail: await PostalMime.parse(accepted.bytes),
    };
  }

  private onRecipient(address: string, done: (error?: Error) => void): void {
    this.attempts.push(address);
    if (this.behaviour === 'hangs') return;
    const error = Object.assign(new Error('Not now'), { responseCode: 451 });
    done(this.behaviour === 'rejects' ? error : undefined);
  }
}

/** The address of the link in a mail. */
export const linkIn = ({ mail }: ParsedMail): string => /^https?:\S+$/m.exec(mail.text ?? '')![0];

/** The token in the link of a mail. */
export const tokenIn = (arrived: ParsedMail): string =>
  new URLSearchParams(new URL(linkIn(arrived)).hash.slice(1)).get('token')!;

/** For `onEach`. */
export const MAILS = { mails: () => new MailServer() };
