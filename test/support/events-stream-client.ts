import { basename } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { startApi, type TestApi } from './api.js';
import { hasBrowser, launchBrowser } from './browser.js';
import { FixtureModule } from './fixture.module.js';
import { STORES } from './stores.js';
import { TcpProxy } from './tcp-proxy.js';
import { until } from './until.js';

export interface Follower {
  /** The texts of created dummies, in the order of their events. */
  readonly texts: () => readonly string[] | Promise<readonly string[]>;
  readonly stop: () => void | Promise<void>;
}

export const STREAM = '/v1/events/stream?types=dummy.created';

export const textOf = (data: string): string => JSON.parse(data).data.text;

/** Runs the source text of a client on a page of the service. */
async function inBrowser(url: string, source: string, files: readonly string[] = []): Promise<Follower> {
  const browser = await launchBrowser();
  const page = await browser.newPage();
  // A page imports the files of a client from its own address.
  await page.route('**/client/*', (route) => {
    const name = new URL(route.request().url()).pathname.split('/').at(-1)!;
    // Modules of the package import each other without an extension.
    return route.fulfill({ path: files.find((file) => basename(file, '.js') === basename(name, '.js'))! });
  });
  await page.goto(url);
  await page.evaluate(`(() => {
    globalThis.texts = [];
    const add = (data) => texts.push(JSON.parse(data).data.text);
    ${source}
  })()`);
  return { texts: () => page.evaluate('globalThis.texts'), stop: () => browser.close() };
}

/**
 * Tests of a client of the stream with its default settings.
 *
 * @param browserClient the source text of the client on a page, and the files that it imports from `/client/`
 */
export function describeStreamClient(
  name: string,
  open: (url: string) => Follower,
  browserClient: { source: string; files?: readonly string[] },
): void {
  const clients: [string, (url: string) => Follower | Promise<Follower>][] = [[name, open]];
  if (hasBrowser) {
    clients.push([
      `${name} in a browser`,
      (url) => inBrowser(url, browserClient.source, browserClient.files),
    ]);
  }

  describe.each(STORES)('on %s, a client of the stream', (store) => {
    let api: TestApi;
    let proxy: TcpProxy;
    let url: string;
    let port: number;
    let follower: Follower | undefined;
    beforeEach(async () => {
      api = await startApi(store, {}, [FixtureModule]);
      port = Number(new URL(await api.listen()).port);
      const through = await TcpProxy.to(`http://127.0.0.1:${port}`);
      proxy = through.proxy;
      url = new URL(through.url).origin;
    });
    afterEach(async () => {
      await follower?.stop();
      await proxy.close();
      await api.stop();
    });

    /** Waits until the follower gets events: a stream starts with the next one. */
    const untilOpen = () =>
      until('it follows', async () => {
        await api.dummies.create({ text: 'start' });
        return (await follower!.texts()).length > 0;
      });

    const laterTexts = async (count: number) => {
      const later = async () => (await follower!.texts()).filter((text) => text !== 'start');
      await until(`${count} events have arrived`, async () => (await later()).length >= count);
      return later();
    };

    it.each(clients)('continues after a lost connection: %s', async (_, openClient) => {
      follower = await openClient(url);
      await untilOpen();
      await proxy.cut();
      await api.dummies.create({ text: '1' });
      await api.dummies.create({ text: '2' });
      await proxy.restore();

      expect(await laterTexts(2)).toEqual(['1', '2']);
    });

    it.each(clients)('continues after a restart of the process: %s', async (_, openClient) => {
      follower = await openClient(url);
      await untilOpen();
      await api.restart();
      await api.dummies.create({ text: '1' });
      await api.dummies.create({ text: '2' });
      await api.app.listen(port, '127.0.0.1');

      expect(await laterTexts(2)).toEqual(['1', '2']);
    });
  });
}
