import { type ArgumentsHost, Catch, type ExceptionFilter, Injectable, Logger } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import { removeResourceHeaders } from '../cache-headers.js';
import type { AppError } from '../errors/errors.js';
import { currentContext } from '../request-context.js';
import { SecurityEvents } from '../security-events.js';
import { toAppError } from '../errors/to-app-error.js';

/** The errors of a connection that was closed while a request was read, or a response was written. */
const CLOSED = new Set([
  'ECANCELED',
  'ECONNRESET',
  'EPIPE',
  'ERR_STREAM_PREMATURE_CLOSE',
  'ERR_STREAM_DESTROYED',
]);

/** Whether the client has disconnected, which is no fault of the service. */
const isDisconnect = (cause: unknown, { raw, request }: FastifyReply): boolean =>
  (raw.destroyed || request.raw.destroyed || request.raw.socket.destroyed) &&
  CLOSED.has((cause as { code?: string }).code ?? '');

/** Turns exceptions into error responses. */
@Catch()
@Injectable()
export class ErrorFilter implements ExceptionFilter {
  private readonly logger = new Logger(ErrorFilter.name);

  constructor(private readonly security: SecurityEvents) {}

  catch(thrown: unknown, host: ArgumentsHost): AppError | void {
    const error = toAppError(thrown);
    // A failed CSRF check has its own event.
    if (error.isDenial)
      this.security.record('access_denied', { accountId: currentContext()?.request.user?.id });
    if (error.dropped.length > 0) this.logDropped(error);
    // Returned, not sent: GraphQL and gateways have their own form of response.
    if (host.getType<string>() !== 'http') return error;
    const reply = host.switchToHttp().getResponse<FastifyReply>();
    if (error.getStatus() >= 500 && error.cause && !isDisconnect(error.cause, reply))
      this.log(error, reply.request.id);
    // Closing at once would disconnect a client that is still sending, before it reads the error.
    if (error.code === 'PAYLOAD_TOO_LARGE') reply.removeHeader('connection');
    removeResourceHeaders(reply);
    for (const [name, value] of Object.entries(error.defaultHeaders)) {
      if (!reply.hasHeader(name)) reply.header(name, value);
    }
    reply
      .status(error.getStatus())
      .headers(error.headers)
      .type('application/json; charset=utf-8')
      .send(error.getResponse());
  }

  private logDropped({ dropped, message }: AppError): void {
    const fields = dropped.join(', ');
    const sentence = `The client does not get ${fields} of the exception "${message}": an error has a message and details as {field, message}`;
    this.logger.warn({ requestId: currentContext()?.id, msg: sentence });
  }

  /** Faults of the service are logged as errors; an outage of the database, or a draining process, as a warning. */
  private log(error: AppError, requestId: string): void {
    const line = { requestId, err: error.cause };
    if (error.code === 'INTERNAL_ERROR') this.logger.error(line);
    else this.logger.warn(line);
  }
}
