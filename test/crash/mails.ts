import { MailServer } from '../support/mail-server.ts';
import { until } from '../support/until.ts';
import { type Load, send } from './load.ts';

const CLIENTS = 2;

/** In milliseconds: a mail in flight when the service is killed is retried after its lease. */
const TIMEOUT = 90_000;

interface Outcome {
  readonly acknowledged: number;
  /** How many of these had arrived before the service was killed. */
  readonly sentBefore: number;
}

/**
 * Registers accounts until the service is killed, also between commit and sending. Then each acknowledged account must
 * get its mail.
 */
export class Mails {
  private readonly server: MailServer;
  private registered: string[] = [];
  private count = 0;

  private constructor(server: MailServer) {
    this.server = server;
  }

  static async start(): Promise<Mails> {
    return new Mails(await new MailServer().start());
  }

  get settings(): Readonly<Record<string, string>> {
    return this.server.settings;
  }

  async run(load: Load): Promise<void> {
    await Promise.all(Array.from({ length: CLIENTS }, () => this.register(load)));
  }

  /** Number of accounts acknowledged since the last check. */
  get acknowledged(): number {
    return this.registered.length;
  }

  /** @param sentBefore see {@link arrived} @throws Error when a mail does not arrive */
  async verify(sentBefore: number): Promise<Outcome> {
    const acknowledged = this.registered.length;
    const isComplete = () => this.arrived === acknowledged;
    await until('every acknowledged account has got its mail', isComplete, TIMEOUT);
    this.registered = [];
    return { acknowledged, sentBefore };
  }

  /** Number of accounts acknowledged since the last check that have their mail. */
  get arrived(): number {
    return this.registered.filter((email) => this.server.to(email).length > 0).length;
  }

  async stop(): Promise<void> {
    await this.server.stop();
  }

  private async register(load: Load): Promise<void> {
    for (;;) {
      const email = `person${this.count++}@example.com`;
      const received = await send(load, 201, '/auth/register/', {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ email, name: 'Person', password: 'crash test password' }),
      });
      if (received === 'killed') return;
      this.registered.push(email);
    }
  }
}
