import { AppError } from '../errors/errors.js';
import { networkOf, siteOf } from '../client.js';

/** The limits of open connections of a kind. */
export const CONNECTION_LIMITS = { process: 1000, client: 50, site: 500 };

/** Limits the open connections of a kind. */
export class ConnectionLimit {
  private count = 0;
  private readonly byClient = new Counts();
  private readonly bySite = new Counts();

  /** @param kind the kind of connections, for the message to clients */
  constructor(private readonly kind: string) {}

  /**
   * Adds a connection.
   *
   * @param address of the client; an IPv6 client is its /64
   * @returns a function that removes it
   * @throws AppError `SERVICE_UNAVAILABLE`
   */
  enter(address: string): () => void {
    const [client, site] = [networkOf(address), siteOf(address)];
    const { process, client: perClient, site: perSite } = CONNECTION_LIMITS;
    if (this.byClient.of(client) >= perClient) {
      throw tooMany(`A client may have ${perClient} ${this.kind}; close one before you open another`);
    }
    // Otherwise one network could use all of the process.
    if (this.bySite.of(site) >= perSite) {
      throw tooMany(
        `The clients of your network have ${perSite} ${this.kind}, which is the limit; retry later`,
      );
    }
    if (this.count >= process) {
      throw tooMany(`This process has ${process} ${this.kind}, which is its limit; retry later`);
    }
    this.add(client, site, 1);
    let isInside = true;
    return () => {
      if (isInside) this.add(client, site, -1);
      isInside = false;
    };
  }

  private add(client: string, site: string, number: number): void {
    this.count += number;
    this.byClient.add(client, number);
    this.bySite.add(site, number);
  }
}

/** Counts by key, without keys whose count is 0. */
export class Counts {
  private readonly counts = new Map<string, number>();

  of(key: string): number {
    return this.counts.get(key) ?? 0;
  }

  add(key: string, number: number): void {
    const count = this.of(key) + number;
    if (count === 0) this.counts.delete(key);
    else this.counts.set(key, count);
  }
}

const tooMany = (message: string): AppError => new AppError('SERVICE_UNAVAILABLE', message);
