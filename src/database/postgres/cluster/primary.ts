import { callbackify } from 'node:util';
import { Client, type Pool, type QueryResult } from 'pg';
import { PostgresClient } from '../client.js';

/** How long a server may take to connect and to respond, in milliseconds; two servers fit into a connection timeout. */
const TIMEOUTS = { connection: 600, response: 300 };

/** The interval of checks of the primary, and how long a check is valid, in milliseconds. */
const INTERVAL = 1000;

/** The pause after a search without a result, in milliseconds; otherwise each request would start another search. */
const PAUSE = 200;

/** `on` during recovery, too. libpq uses it before PostgreSQL 14, and every pooler supports it. */
const QUERY = 'SHOW transaction_read_only';

/** One of the servers of `DATABASE_URL`. */
export interface PostgresServer {
  readonly url: string;
  readonly name: string;
}

/** No server accepts writes at the moment. */
class NoPrimaryError extends Error {
  readonly code = 'NO_PRIMARY';
}

/** Finds the server that accepts writes (`target_session_attrs=read-write`). */
export class Primary {
  private readonly servers: readonly PostgresServer[];
  private readonly connections = new Map<PostgresClient, PostgresServer>();
  private current: PostgresServer;
  private confirmedAt = -Infinity;
  private finding: Promise<PostgresServer> | undefined;
  private timer: NodeJS.Timeout | undefined;

  /** Called when another server has become the primary. */
  onMove: (server: PostgresServer) => void = () => undefined;

  /** @param urls at least one; they differ in host and port only */
  constructor(urls: readonly string[]) {
    this.servers = urls.map((url) => ({ url, name: nameOf(url) }));
    this.current = this.servers[0]!;
  }

  /** Concurrent calls share the search. @throws NoPrimaryError with the reason of each server */
  async find(): Promise<PostgresServer> {
    if (performance.now() - this.confirmedAt < INTERVAL) return this.current;
    return (this.finding ??= this.beginSearch());
  }

  /** Makes the next connection check the primary again. */
  invalidate(): void {
    this.confirmedAt = -Infinity;
  }

  /** Closes the connection when another server becomes the primary. */
  add(connection: PostgresClient, server: PostgresServer): void {
    this.connections.set(connection, server);
    connection.once('end', () => {
      this.connections.delete(connection);
      this.invalidate();
    });
  }

  /**
   * Checks each second whether the server still accepts writes.
   *
   * @param monitor a connection to it that is not shared with requests
   */
  watch(monitor: Pool): void {
    let checking: Promise<void> | undefined;
    this.timer = setInterval(() => {
      checking ??= this.check(monitor).finally(() => (checking = undefined));
    }, INTERVAL).unref();
  }

  close(): void {
    clearInterval(this.timer);
  }

  private async check(monitor: Pool): Promise<void> {
    const { current } = this;
    let isReadOnly = false;
    try {
      const { rows } = await monitor.query<ReadOnly>(QUERY);
      if (isWritable(rows)) {
        this.confirmedAt = performance.now();
        return;
      }
      isReadOnly = true;
    } catch {
      // The server may only be busy, but a search is needed in any case.
    }
    this.invalidate();
    const found = await this.find().catch(() => undefined);
    // Its name leads to another server now, but open connections do not.
    if (isReadOnly && found === current) this.replace(() => true);
  }

  private beginSearch(): Promise<PostgresServer> {
    const end = () => (this.finding = undefined);
    const search = this.search();
    search.then(end, () => setTimeout(end, PAUSE).unref());
    return search;
  }

  private async search(): Promise<PostgresServer> {
    const reasons: string[] = [];
    const check = async (server: PostgresServer): Promise<PostgresServer> => {
      const reason = await whyNot(server);
      if (reason === undefined) return server;
      reasons.push(`${server.name}: ${reason}`);
      throw new NoPrimaryError(reason);
    };
    const others = this.servers.filter((server) => server !== this.current);
    const found = await check(this.current)
      .catch(() => Promise.any(others.map(check)))
      .catch(() => {
        throw new NoPrimaryError(`no server accepts writes (${reasons.join('; ')})`);
      });
    this.moveTo(found);
    return found;
  }

  private moveTo(server: PostgresServer): void {
    this.confirmedAt = performance.now();
    if (server === this.current) return;
    this.current = server;
    this.replace((other) => other !== server);
  }

  /** Cuts the connections to the former primary. */
  private replace(isFormer: (server: PostgresServer) => boolean): void {
    for (const [connection, server] of this.connections) {
      if (isFormer(server)) connection.cut();
    }
    this.onMove(this.current);
  }
}

interface ReadOnly {
  readonly transaction_read_only: 'on' | 'off';
}

const isWritable = ([row]: readonly ReadOnly[]): boolean => row?.transaction_read_only === 'off';

/** @returns `undefined` if the server accepts writes */
async function whyNot({ url }: PostgresServer): Promise<string | undefined> {
  const client = new PostgresClient({
    connectionString: url,
    connectionTimeoutMillis: TIMEOUTS.connection,
    query_timeout: TIMEOUTS.response,
  });
  try {
    await client.connect();
    const { rows }: QueryResult<ReadOnly> = await client.query(QUERY);
    return isWritable(rows) ? undefined : 'read-only';
  } catch (error) {
    const { message, code } = error as NodeJS.ErrnoException;
    return message || code || 'unreachable';
  } finally {
    client.end().catch(() => undefined);
  }
}

/** Host and port, or the folder of a socket. */
function nameOf(url: string): string {
  const { host, searchParams } = new URL(url);
  return host || searchParams.get('host')!;
}

type Callback = (error: Error | null) => void;

/**
 * A connection to the current primary, chosen when it is opened. The addresses of the servers differ in
 * host and port only.
 */
export function primaryClient(primary: Primary): typeof PostgresClient {
  return class PrimaryClient extends PostgresClient {
    private isEnded = false;

    override connect(): Promise<Client>;
    override connect(callback: Callback): void;
    override connect(callback?: Callback): Promise<Client> | void {
      if (!callback) return this.connectToPrimary();
      callbackify(() => this.connectToPrimary())(callback);
    }

    override end(): Promise<void>;
    override end(callback: (error: Error) => void): void;
    override end(callback?: (error: Error) => void): Promise<void> | void {
      this.isEnded = true;
      return callback ? super.end(callback) : super.end();
    }

    private async connectToPrimary(): Promise<Client> {
      const server = await primary.find();
      // The pool may close the connection during the search.
      if (this.isEnded || this.isCut) throw new Error('Connection terminated');
      const { host, port } = new Client(server.url);
      this.host = host;
      this.port = port;
      primary.add(this, server);
      return super.connect();
    }
  };
}
