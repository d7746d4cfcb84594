import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';

export interface Span {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly name: string;
  readonly kind: number;
  readonly attributes: Readonly<Record<string, unknown>>;
}

/** An OpenTelemetry collector, which receives OTLP over HTTP as JSON. */
export class OtlpReceiver {
  readonly spans: Span[] = [];
  readonly resources: Record<string, unknown>[] = [];
  /** Everything that was sent, as text. */
  readonly bodies: string[] = [];
  /** Of calls to `/call`. */
  readonly traceparents: unknown[] = [];

  private constructor(private readonly server: Server) {}

  static async start(): Promise<OtlpReceiver> {
    const respond = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
      const body = await text(request);
      if (request.url === '/call') receiver.traceparents.push(request.headers['traceparent']);
      else receiver.bodies.push(body);
      if (request.url === '/v1/traces') receiver.record(JSON.parse(body));
      response.writeHead(200, { 'content-type': 'application/json' }).end('{}');
    };
    const server = createServer((request, response) => void respond(request, response));
    const receiver = new OtlpReceiver(server);
    await once(server.listen(0, '127.0.0.1'), 'listening');
    return receiver;
  }

  get port(): number {
    return (this.server.address() as AddressInfo).port;
  }

  get url(): string {
    return `http://127.0.0.1:${this.port}`;
  }

  /** The spans of a trace. */
  of(traceId: string): Span[] {
    return this.spans.filter((span) => span.traceId === traceId);
  }

  async stop(): Promise<void> {
    this.server.closeAllConnections();
    await once(this.server.close(), 'close');
  }

  private record({ resourceSpans }: any): void {
    for (const { resource, scopeSpans } of resourceSpans) {
      this.resources.push(attributesOf(resource));
      for (const { spans } of scopeSpans) {
        for (const span of spans) this.spans.push({ ...span, attributes: attributesOf(span) });
      }
    }
  }
}

const attributesOf = ({ attributes = [] }: any): Record<string, unknown> =>
  Object.fromEntries(
    attributes.map(({ key, value }: any) => [
      key,
      value.stringValue ?? Number(value.intValue ?? value.doubleValue),
    ]),
  );
