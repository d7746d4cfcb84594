import { EventSource } from 'eventsource';
import { describeStreamClient, STREAM, textOf } from './support/events-stream-client.js';

describeStreamClient(
  'EventSource',
  (url) => {
    const texts: string[] = [];
    const source = new EventSource(url + STREAM);
    source.addEventListener('dummy.created', ({ data }) => texts.push(textOf(data)));
    return { texts: () => texts, stop: () => source.close() };
  },
  { source: `new EventSource('${STREAM}').addEventListener('dummy.created', ({ data }) => add(data));` },
);
