import { EventSource } from 'eventsource';
import { describeStreamClient, STREAM, titleOf } from './support/stream-client.js';

describeStreamClient(
  'EventSource',
  (url) => {
    const titles: string[] = [];
    const source = new EventSource(url + STREAM);
    source.addEventListener('post.created', ({ data }) => titles.push(titleOf(data)));
    return { titles: () => titles, stop: () => source.close() };
  },
  { source: `new EventSource('${STREAM}').addEventListener('post.created', ({ data }) => add(data));` },
);
