import { randomUUID } from 'node:crypto';
import type { Client } from 'pg';
import type { Listening } from '../database.js';

/** Between two attempts to connect, in milliseconds. */
const RETRY = 1000;

/** The timeout of a connection and of its test signal, in milliseconds. */
const TIMEOUT = 2000;

/**
 * Listens to a channel on its own connection, and reconnects. A pooler that uses another connection for each transaction
 * accepts `LISTEN` and delivers nothing, so where `DATABASE_POOLER` does not name it, the connection counts only after a
 * test signal has arrived.
 */
export class PostgresListener implements Listening {
  private client: Client | undefined;
  private timer: NodeJS.Timeout | undefined;
  private isClosed = false;
  works = false;

  /**
   * @param newClient creates a connection with a timeout in milliseconds
   * @param send sends a signal with a payload to the channel
   */
  constructor(
    private readonly newClient: (timeout: number) => Client,
    private readonly channel: string,
    private readonly onSignal: () => void,
    private readonly send: (payload: string) => Promise<unknown>,
  ) {
    void this.connect();
  }

  async close(): Promise<void> {
    this.isClosed = true;
    clearTimeout(this.timer);
    await this.client?.end().catch(() => undefined);
  }

  private async connect(): Promise<void> {
    const client = this.newClient(TIMEOUT);
    const proof = randomUUID();
    const lose = (): void => this.lose(client);
    this.client = client;
    client.on('error', lose).on('end', lose);
    client.on('notification', ({ payload }) => {
      if (payload === proof) this.works = true;
      this.onSignal();
    });
    try {
      await client.connect();
      await client.query(`LISTEN ${this.channel}`);
      // Sent over another connection: on this one, it would always arrive.
      await this.send(proof);
    } catch {
      lose();
    }
  }

  private lose(client: Client): void {
    if (this.client !== client) return;
    this.client = undefined;
    this.works = false;
    client.end().catch(() => undefined);
    if (this.isClosed) return;
    // Signals were lost meanwhile.
    this.onSignal();
    this.timer = setTimeout(() => void this.connect(), RETRY).unref();
  }
}
