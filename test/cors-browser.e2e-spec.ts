import { createServer } from 'node:http';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { describe, expect, it } from '@jest/globals';
import { startApi } from './support/api.js';
import { FixtureModule } from './support/fixture.module.js';
import { ANY_STORE } from './support/stores.js';
import { hasBrowser, launchBrowser } from './support/browser.js';

(hasBrowser ? describe : describe.skip)('a page of another origin in a browser', () => {
  it.each([
    ['with any origin', () => ({}), 'Some text'],
    ['with its origin in CORS_ORIGINS', (origin: string) => ({ CORS_ORIGINS: origin }), 'Some text'],
    ['with another one', () => ({ CORS_ORIGINS: 'https://a.example' }), 'TypeError'],
  ])('uses GraphQL %s', async (_, settings, expected) => {
    const site = createServer((_request, response) => {
      response.setHeader('content-type', 'text/html').end('<!doctype html><title>A page</title>');
    }).listen(0, '127.0.0.1');
    await once(site, 'listening');
    const origin = `http://127.0.0.1:${(site.address() as AddressInfo).port}`;
    const api = await startApi(ANY_STORE, settings(origin), [FixtureModule]);
    await api.dummies.create();
    const url = `${await api.listen()}/graphql`;
    const browser = await launchBrowser();
    const page = await browser.newPage();
    await page.goto(origin);

    const text = await page.evaluate(
      (to) =>
        fetch(to, {
          method: 'POST',
          headers: { 'content-type': 'application/json' },
          body: '{"query":"{ dummies { nodes { text } } }"}',
        })
          .then((reply) => reply.json())
          .then(
            ({ data }: any) => data.dummies.nodes[0].text,
            (error: Error) => error.name,
          ),
      url,
    );
    expect(text).toBe(expected);
    await browser.close();
    await api.stop();
    site.close();
  });
});
