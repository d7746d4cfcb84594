import { AppError } from '../errors/errors.js';
import { networkOf } from './client.js';

/** The limits of open connections of a kind. */
export const CONNECTION_LIMITS = { process: 1000, client: 50 };

/** Limits the open connections of a kind. */
export class ConnectionLimit {
  private count = 0;
  private readonly byClient = new Map<string, number>();

  /** @param kind the kind of connections, for the message to clients */
  constructor(private readonly kind: string) {}

  /** The number of open connections. */
  get size(): number {
    return this.count;
  }

  /**
   * Adds a connection.
   *
   * @param address of the client; an IPv6 client is its /64
   * @returns a function that removes it
   * @throws AppError `SERVICE_UNAVAILABLE`
   */
  enter(address: string): () => void {
    const client = networkOf(address);
    const own = this.byClient.get(client) ?? 0;
    if (own >= CONNECTION_LIMITS.client) {
      throw tooMany(
        `A client may have ${CONNECTION_LIMITS.client} ${this.kind}; close one before you open another`,
      );
    }
    if (this.count >= CONNECTION_LIMITS.process) {
      throw tooMany(
        `This process has ${CONNECTION_LIMITS.process} ${this.kind}, which is all it takes; retry later`,
      );
    }
    this.count++;
    this.byClient.set(client, own + 1);
    let isInside = true;
    return () => {
      if (!isInside) return;
      isInside = false;
      this.count--;
      const rest = this.byClient.get(client)! - 1;
      if (rest === 0) this.byClient.delete(client);
      else this.byClient.set(client, rest);
    };
  }
}

const tooMany = (message: string): AppError => new AppError('SERVICE_UNAVAILABLE', message);
