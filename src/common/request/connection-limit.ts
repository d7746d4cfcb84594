import { AppError } from '../errors/errors.js';
import { networkOf } from './client.js';

/** Connections of a kind at the same time. */
export const CONNECTION_LIMITS = { process: 1000, client: 50 };

/** How many connections of a kind may be open. */
export class ConnectionLimit {
  private count = 0;
  private readonly byClient = new Map<string, number>();

  /** @param kind what there may be so many of, in words for the client */
  constructor(private readonly kind: string) {}

  /** Places that are taken. */
  get size(): number {
    return this.count;
  }

  /**
   * Takes a place.
   *
   * @param address of the client; an IPv6 client is its /64
   * @returns what gives the place back
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
