import { Logger } from '@nestjs/common';
import type { Pool } from 'pg';
import type { PostgresStore } from '../../../config/config.js';
import { PostgresClient } from '../client.js';
import { Primary, primaryClient } from './primary.js';
import { Replicas } from './replicas.js';

/** Several servers: the primary among those of `DATABASE_URL`, and the replicas of `DATABASE_REPLICA_URLS`. */
export class Cluster {
  /** The class of connections to the primary. */
  readonly Client: typeof PostgresClient;
  private readonly primary: Primary | undefined;
  /** Undefined if none are configured, or before they are opened. */
  replicas: Replicas | undefined;

  constructor(private readonly store: PostgresStore) {
    this.primary = store.servers.length > 0 ? new Primary(store.servers) : undefined;
    this.Client = this.primary ? primaryClient(this.primary) : PostgresClient;
  }

  /** @param monitor a connection to the primary that is not shared with requests */
  watchPrimary(monitor: Pool): void {
    if (!this.primary) return;
    this.primary.watch(monitor);
    this.primary.onMove = ({ name }) => {
      new Logger('Database').warn(`${name} is the primary now`);
      this.replicas?.forgetPositions();
    };
  }

  /** Reads use the available replicas from now on. */
  async openReplicas(monitor: Pool): Promise<void> {
    if (this.store.replicaUrls.length === 0) return;
    this.replicas = new Replicas(this.store, monitor);
    await this.replicas.refresh();
  }

  async close(): Promise<void> {
    this.primary?.close();
    await this.replicas?.close();
  }
}
