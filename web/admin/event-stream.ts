import { ROOT, type Schemas } from '../shared/api.js';
import { parseExactly } from '../shared/exact-json.js';

export type Event = Schemas['CloudEventEnvelope'] & { data?: unknown };

interface Listener {
  readonly onLive: (isLive: boolean) => void;
  readonly onEvent: (event: Event) => void;
}

/** What the tab that reads the stream tells the others; `ask` is what a new one asks it for. */
type Message = { readonly live: boolean } | { readonly id: string; readonly json: string } | 'ask';

/** When the page connects again after an error, in milliseconds. */
const RETRY = 5000;

/** After how many errors in a row the page goes on with the next event instead of the last one. */
const MAX_FAILURES = 10;

/** The name of the lock of the tab that reads the stream, and of the channel by which the others get its events. */
const NAME = `events of ${ROOT}`;

/**
 * Follows the events of all types. One tab reads the stream for all tabs of the browser: over HTTP/1.1, six streams would
 * leave no connection for anything else. When it is closed, the tab that has waited longest goes on after the last event.
 *
 * @returns what ends it
 */
export function follow(types: readonly string[], { onLive, onEvent }: Listener): () => void {
  const channel = new BroadcastChannel(NAME);
  const end = new AbortController();
  let last = '';
  let isLive = false;
  const receive = (message: Message) => {
    if (message === 'ask') return;
    if ('live' in message) onLive((isLive = message.live));
    else {
      last = message.id;
      onEvent(parseExactly(message.json) as Event);
    }
  };
  const send = (message: Message) => {
    // Not that of a window: a channel has one origin.
    // eslint-disable-next-line unicorn/require-post-message-target-origin
    channel.postMessage(message);
  };
  const tell = (message: Message) => {
    send(message);
    receive(message);
  };
  const lead = () => {
    tell({ live: false });
    channel.addEventListener('message', ({ data }) => data === 'ask' && tell({ live: isLive }));
    const close = read(types, () => last, tell);
    const { promise, resolve } = Promise.withResolvers<void>();
    end.signal.addEventListener('abort', () => resolve(close()));
    return promise;
  };
  channel.addEventListener('message', ({ data }: MessageEvent<Message>) => receive(data));
  send('ask');
  // Browsers have locks over HTTPS and on this machine only: elsewhere, each tab reads the stream.
  if (navigator.locks) navigator.locks.request(NAME, { signal: end.signal }, lead).catch(() => undefined);
  else void lead();
  return () => {
    end.abort();
    channel.close();
  };
}

/**
 * Reads the stream. The browser reconnects by itself right after the last event, except after a response that is an error,
 * such as that of a proxy during a restart.
 *
 * @param lastId of the event to go on after; empty for the next one
 * @returns what ends it
 */
function read(types: readonly string[], lastId: () => string, tell: (message: Message) => void): () => void {
  let source: EventSource;
  let timer: ReturnType<typeof setTimeout> | undefined;
  let failures = 0;
  const open = () => {
    const query = new URLSearchParams();
    // An event that has been purged meanwhile is no place to go on from.
    if (lastId() !== '' && failures < MAX_FAILURES) query.set('last_event_id', lastId());
    source = new EventSource(`${ROOT}v1/events/stream?${query}`);
    source.addEventListener('open', () => {
      failures = 0;
      tell({ live: true });
    });
    source.addEventListener('error', () => {
      tell({ live: false });
      if (source.readyState !== EventSource.CLOSED) return;
      failures++;
      timer = setTimeout(open, RETRY);
    });
    // Each type of event is a type of the browser's event, too: there is none for all.
    for (const type of types)
      source.addEventListener(type, ({ data, lastEventId }: MessageEvent<string>) =>
        tell({ id: lastEventId, json: data }),
      );
  };
  open();
  return () => {
    clearTimeout(timer);
    source.close();
  };
}
