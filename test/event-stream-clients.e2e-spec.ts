import { fileURLToPath } from 'node:url';
import { fetchEventSource } from '@microsoft/fetch-event-source';
import { EventSource } from 'eventsource';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { startApi, type TestApi } from './support/api.js';
import { hasBrowser, launchBrowser } from './support/browser.js';
import { STORES } from './support/stores.js';
import { TcpProxy } from './support/tcp-proxy.js';
import { until } from './support/until.js';

interface Follower {
  /** The titles of created posts, in the order of their events. */
  readonly titles: () => readonly string[] | Promise<readonly string[]>;
  readonly stop: () => void | Promise<void>;
}

const PATH = '/v1/events/stream?types=post.created';

const titleOf = (data: string): string => JSON.parse(data).data.title;

/** Clients with their default settings. */
const CLIENTS: Record<string, (url: string) => Follower> = {
  eventsource: (url) => {
    const titles: string[] = [];
    const source = new EventSource(url + PATH);
    source.addEventListener('post.created', ({ data }) => titles.push(titleOf(data)));
    return { titles: () => titles, stop: () => source.close() };
  },

  '@microsoft/fetch-event-source': (url) => {
    const titles: string[] = [];
    const ending = new AbortController();
    void fetchEventSource(url + PATH, {
      signal: ending.signal,
      onmessage: ({ data }) => void (data !== '' && titles.push(titleOf(data))),
    });
    return { titles: () => titles, stop: () => ending.abort() };
  },
};

/** The source text of clients, which a page imports from its own address. */
const BROWSER_CLIENTS: Record<string, string> = {
  EventSource: `
    new EventSource('${PATH}').addEventListener('post.created', ({ data }) => add(data));`,
  '@microsoft/fetch-event-source': `
    import('/client/fetch.js').then(({ fetchEventSource }) =>
      fetchEventSource('${PATH}', { onmessage: ({ data }) => data !== '' && add(data) }));`,
};

const PACKAGE = new URL('../node_modules/@microsoft/fetch-event-source/lib/esm/', import.meta.url);

/** Runs a client on a page of the service. */
async function inBrowser(url: string, source: string): Promise<Follower> {
  const browser = await launchBrowser();
  const page = await browser.newPage();
  await page.route('**/client/*', (route) => {
    const name = new URL(route.request().url()).pathname.split('/').at(-1)!;
    // Modules of the package import each other without an extension.
    return route.fulfill({ path: fileURLToPath(new URL(name, PACKAGE)).replace(/(?<!\.js)$/, '.js') });
  });
  await page.goto(url);
  await page.evaluate(`(() => {
    globalThis.titles = [];
    const add = (data) => titles.push(JSON.parse(data).data.title);
    ${source}
  })()`);
  return { titles: () => page.evaluate('globalThis.titles'), stop: () => browser.close() };
}

describe.each(STORES)('on %s, a client of the stream', (store) => {
  let api: TestApi;
  let proxy: TcpProxy;
  let url: string;
  let port: number;
  let follower: Follower | undefined;
  beforeEach(async () => {
    api = await startApi(store);
    await api.app.listen(0, '127.0.0.1');
    port = Number(new URL(await api.app.getUrl()).port);
    const through = await TcpProxy.to(`http://127.0.0.1:${port}`);
    proxy = through.proxy;
    url = new URL(through.url).origin;
    // The globals of a browser that fetch-event-source uses.
    Object.assign(globalThis, { window: globalThis, document: new EventTarget() });
  });
  afterEach(async () => {
    await follower?.stop();
    for (const name of ['window', 'document']) Reflect.deleteProperty(globalThis, name);
    await proxy.close();
    await api.stop();
  });

  /** Waits until the follower gets events: a stream starts with the next one. */
  const untilOpen = () =>
    until('it follows', async () => {
      await api.posts.create({ title: 'start' });
      return (await follower!.titles()).length > 0;
    });

  const laterTitles = async (count: number) => {
    const later = async () => (await follower!.titles()).filter((title) => title !== 'start');
    await until(`${count} events have arrived`, async () => (await later()).length >= count);
    return later();
  };

  const clients = [
    ...Object.entries(CLIENTS),
    ...Object.entries(hasBrowser ? BROWSER_CLIENTS : {}).map(
      ([name, source]) => [`${name} in a browser`, (to: string) => inBrowser(to, source)] as const,
    ),
  ];

  it.each(clients)('continues after a lost connection: %s', async (_, open) => {
    follower = await open(url);
    await untilOpen();
    await proxy.cut();
    await api.posts.create({ title: '1' });
    await api.posts.create({ title: '2' });
    await proxy.restore();

    expect(await laterTitles(2)).toEqual(['1', '2']);
  });

  it.each(clients)('continues after a restart of the process: %s', async (_, open) => {
    follower = await open(url);
    await untilOpen();
    api = await api.restart();
    await api.posts.create({ title: '1' });
    await api.posts.create({ title: '2' });
    await api.app.listen(port, '127.0.0.1');

    expect(await laterTitles(2)).toEqual(['1', '2']);
  });
});
