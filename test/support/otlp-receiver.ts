import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { json } from 'node:stream/consumers';

export interface Span {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly name: string;
  readonly kind: number;
  readonly attributes: Readonly<Record<string, unknown>>;
}

/** The names of a span and of its descendants; siblings are sorted by name, because some start at the same time. */
export type Tree = string | readonly Tree[];

/** An OpenTelemetry collector, which receives OTLP over HTTP as JSON. */
export class OtlpReceiver {
  readonly spans: Span[] = [];
  readonly resources: Record<string, unknown>[] = [];
  /** Of calls to any other path. */
  readonly traceparents: unknown[] = [];

  private constructor(private readonly server: Server) {}

  static async start(): Promise<OtlpReceiver> {
    const respond = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
      const body = await json(request);
      if (request.url === '/v1/traces') receiver.record(body);
      else receiver.traceparents.push(request.headers['traceparent']);
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

  /** The root span of a trace with its descendants. */
  tree(traceId: string): Tree {
    const spans = this.of(traceId).toSorted((a, b) => (a.name < b.name ? -1 : 1));
    const ids = new Set(spans.map(({ spanId }) => spanId));
    const below = ({ name, spanId }: Span): Tree => {
      const children = spans.filter(({ parentSpanId }) => parentSpanId === spanId);
      return children.length === 0 ? name : [name, ...children.map(below)];
    };
    const roots = spans.filter(({ parentSpanId = '' }) => !ids.has(parentSpanId));
    if (roots.length !== 1) throw new Error(`The trace has ${roots.length} roots`);
    return below(roots[0]!);
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
