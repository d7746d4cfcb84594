import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Injectable, Logger, type OnApplicationBootstrap, type OnApplicationShutdown } from '@nestjs/common';
import { Registry } from 'prom-client';
import { metricsPortFault } from './check-ports.js';
import { Config } from '../config/config.js';

/** More than Prometheus and an operator need. */
const MAX_CONNECTIONS = 20;

/** Serves `GET /metrics` on its own port, which is not for clients. */
@Injectable()
export class MetricsServer implements OnApplicationBootstrap, OnApplicationShutdown {
  private readonly logger = new Logger('Metrics');
  private server: Server | undefined;
  /** Concurrent scrapes share a response. */
  private reading: Promise<string> | undefined;

  constructor(
    private readonly registry: Registry,
    private readonly config: Config,
  ) {}

  get url(): string | undefined {
    const address = this.server?.address() as AddressInfo | null | undefined;
    if (!address) return undefined;
    const host = address.family === 'IPv6' ? `[${address.address}]` : address.address;
    return `http://${host}:${address.port}/metrics`;
  }

  async onApplicationBootstrap(): Promise<void> {
    const { serves, metricsPort, metricsHost } = this.config;
    if (!serves || metricsPort === undefined) return;
    const server = createServer((request, response) => void this.respond(request, response));
    server.maxConnections = MAX_CONNECTIONS;
    try {
      await once(server.listen(metricsPort, metricsHost), 'listening');
    } catch (error) {
      throw metricsPortFault(error);
    }
    this.server = server;
    this.logger.log(`Metrics on ${this.url}`);
  }

  async onApplicationShutdown(): Promise<void> {
    if (!this.server) return;
    const closed = once(this.server.close(), 'close');
    this.server.closeAllConnections();
    await closed;
  }

  private async respond({ method, url = '' }: IncomingMessage, response: ServerResponse): Promise<void> {
    if (!/^\/metrics(?:\?|$)/.test(url) || (method !== 'GET' && method !== 'HEAD')) {
      response.writeHead(404).end();
      return;
    }
    try {
      const text = await (this.reading ??= this.registry.metrics().finally(() => (this.reading = undefined)));
      response.writeHead(200, { 'content-type': this.registry.contentType }).end(text);
    } catch (error) {
      this.logger.error({ msg: 'The metrics could not be collected', err: error });
      response.writeHead(500).end();
    }
  }
}
