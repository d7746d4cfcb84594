import { once } from 'node:events';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { WsAdapter } from '@nestjs/platform-ws';
import { WebSocket } from 'ws';
import { createApp } from '../../../src/app.js';
import { loadConfig } from '../../../src/platform/config/load-config.js';
import { bearer, TestApi } from '../../support/api.js';
import { ANY_STORE, createStore } from '../../support/stores.js';
import { RoomsModule } from './rooms/rooms.module.js';

let api: TestApi;
beforeAll(async () => {
  const { environment, ...store } = await createStore(ANY_STORE);
  const config = loadConfig({ NODE_ENV: 'test', LOG_LEVEL: 'silent', ...environment });
  const app = await createApp(config, {
    modules: [RoomsModule],
    configure: (created) => void created.useWebSocketAdapter(new WsAdapter(created)),
  });
  await app.listen(0, '127.0.0.1');
  api = new TestApi(app, config, () => store.remove());
});
afterAll(() => api.stop());

async function ask(event: string, headers: Record<string, string> = {}): Promise<unknown> {
  const client = new WebSocket(`${(await api.app.getUrl()).replace('http', 'ws')}/rooms`, { headers });
  await once(client, 'open');
  client.send(JSON.stringify({ event, data: 'hello' }));
  const [message] = await once(client, 'message');
  client.close();
  return JSON.parse(String(message));
}

it('requires an account by default', async () => {
  await api.accounts.register('ada@example.com');
  const { access } = await api.accounts.login('ada@example.com');

  expect(await ask('echo')).toEqual({ event: 'echo', data: 'hello' });
  expect(await ask('whoami', bearer(access))).toEqual({ event: 'whoami', data: 'ada@example.com' });
  expect(await ask('whoami')).toMatchObject({ event: 'exception' });
});
