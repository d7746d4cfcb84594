import { once } from 'node:events';
import { get, type IncomingMessage } from 'node:http';
import { until } from './until.ts';

export interface Received {
  readonly id: string;
  readonly type: string;
  /** The event, parsed. */
  readonly data: any;
}

interface EventClientOptions {
  readonly lastEventId?: string | undefined;
  readonly headers?: Record<string, string>;
  readonly onEvent?: (event: Received) => void;
}

/** A response other than 200. */
export class StreamRefused extends Error {
  readonly response: IncomingMessage;

  constructor(response: IncomingMessage) {
    super(`The stream got ${response.statusCode}`);
    this.response = response;
  }
}

/** A consumer of the stream that parses it like `EventSource`, but does not reconnect. */
export class EventClient {
  readonly events: Received[] = [];
  /** Comments and settings, such as `retry: 2000`. */
  readonly otherLines: string[] = [];
  isOver = false;
  readonly response: IncomingMessage;
  private readonly onEvent: ((event: Received) => void) | undefined;

  private constructor(response: IncomingMessage, onEvent?: (event: Received) => void) {
    this.response = response;
    this.onEvent = onEvent;
    void this.read()
      .catch(() => undefined)
      .finally(() => (this.isOver = true));
  }

  /** Opens a stream on a new connection. @throws StreamRefused if the response is not 200 */
  static async open(
    url: string,
    { lastEventId, headers = {}, onEvent }: EventClientOptions = {},
  ): Promise<EventClient> {
    const request = get(url, {
      agent: false,
      headers: { ...headers, ...(lastEventId !== undefined && { 'last-event-id': lastEventId }) },
    });
    const [response] = (await once(request, 'response')) as [IncomingMessage];
    if (response.statusCode === 200) return new EventClient(response, onEvent);
    response.destroy();
    throw new StreamRefused(response);
  }

  get ids(): string[] {
    return this.events.map(({ id }) => id);
  }

  async untilEvents(count: number): Promise<Received[]> {
    await until(`${count} events have arrived`, () => this.events.length >= count);
    return this.events;
  }

  close(): void {
    this.response.destroy();
  }

  private async read(): Promise<void> {
    let text = '';
    this.response.setEncoding('utf8');
    for await (const chunk of this.response) {
      text += String(chunk);
      const blocks = text.split('\n\n');
      text = blocks.pop()!;
      for (const block of blocks) this.record(block);
    }
  }

  private record(block: string): void {
    const fields = new Map(block.split('\n').map((line) => splitField(line)));
    const data = fields.get('data');
    if (data === undefined) {
      this.otherLines.push(block);
      return;
    }
    const event = { id: fields.get('id')!, type: fields.get('event')!, data: JSON.parse(data) };
    this.events.push(event);
    this.onEvent?.(event);
  }
}

function splitField(line: string): [name: string, value: string] {
  const colon = line.indexOf(':');
  return [line.slice(0, colon), line.slice(colon + 2)];
}
