import { globSync } from 'node:fs';
import { fetchEventSource } from '@microsoft/fetch-event-source';
import { afterAll, beforeAll } from '@jest/globals';
import { describeStreamClient, STREAM, textOf } from '../support/events-stream-client.js';

// The globals of a browser that the package uses.
beforeAll(() => void Object.assign(globalThis, { window: globalThis, document: new EventTarget() }));
afterAll(() => {
  for (const name of ['window', 'document']) Reflect.deleteProperty(globalThis, name);
});

describeStreamClient(
  '@microsoft/fetch-event-source',
  (url) => {
    const texts: string[] = [];
    const ending = new AbortController();
    void fetchEventSource(url + STREAM, {
      signal: ending.signal,
      onmessage: ({ data }) => void (data !== '' && texts.push(textOf(data))),
    });
    return { texts: () => texts, stop: () => ending.abort() };
  },
  {
    source: `
      import('/client/fetch.js').then(({ fetchEventSource }) =>
        fetchEventSource('${STREAM}', { onmessage: ({ data }) => data !== '' && add(data) }));`,
    files: globSync('test/extra/node_modules/@microsoft/fetch-event-source/lib/esm/*.js'),
  },
);
