import { once } from 'node:events';
import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, afterEach, beforeAll, expect, it } from '@jest/globals';
import { Test } from '@nestjs/testing';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { appOptions, initApp } from '../../../src/app.js';
import { AppModule } from '../../../src/app.module.js';
import { createFastifyAdapter } from '../../../src/platform/http/edge/fastify-adapter.js';
import { loadConfig } from '../../../src/platform/config/load-config.js';
import { TestApi } from '../../support/api.js';
import { ANY_STORE, createStore } from '../../support/stores.js';
import { PricesModule } from './prices/prices.module.js';
import { RatesClient } from './prices/rates.client.js';

let server: Server;
let api: TestApi;
let respond: RequestListener;
beforeAll(async () => {
  server = createServer((request, response) => respond(request, response)).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { environment, ...store } = await createStore(ANY_STORE);
  const config = loadConfig({ NODE_ENV: 'test', LOG_LEVEL: 'silent', ...environment });
  const module = await Test.createTestingModule({ imports: [AppModule.with(config, [PricesModule])] })
    .overrideProvider(RatesClient)
    .useValue(new RatesClient(`http://127.0.0.1:${(server.address() as AddressInfo).port}`))
    .compile();
  const app = module.createNestApplication<NestFastifyApplication>(
    createFastifyAdapter(config),
    appOptions(config),
  );
  api = new TestApi({ app: await initApp(app), config, removeStore: () => store.remove() });
});
afterAll(async () => {
  await api.stop();
  server.close();
});
afterEach(() => server.closeAllConnections());

it('retries when the other service fails twice', async () => {
  let attempts = 0;
  respond = (_, response) => {
    attempts += 1;
    response.writeHead(attempts < 3 ? 500 : 200).end('{"rate":1.5}');
  };

  expect((await api.getOnly('/v1/prices/EUR')).body).toEqual({ cents: 1500 });
  expect(attempts).toBe(3);
});

it('gives up when the other service does not respond, and is not ready', async () => {
  respond = () => undefined;

  expect(await api.getOnly('/v1/prices/EUR')).toBeError('SERVICE_UNAVAILABLE');
  expect(await api.get('/health/ready')).toBeError('SERVICE_UNAVAILABLE', ['rates']);
  respond = (_, response) => response.end('{"rate":1}');
  expect(await api.get('/health/ready')).toHaveStatus(200);
}, 15_000);
