import { type ArgumentsHost, Catch, type ExceptionFilter, Logger } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import { toEnvelope } from './envelope.js';
import { type AppError, ERRORS } from './errors.js';
import { toAppError } from './to-app-error.js';

/** The only place where a failure becomes something that a client can see. */
@Catch()
export class ErrorFilter implements ExceptionFilter {
  private readonly logger = new Logger(ErrorFilter.name);

  catch(thrown: unknown, host: ArgumentsHost): AppError | void {
    // Returned, not sent: GraphQL puts it beside the data, and `graphql/errors` says it to the client.
    if (host.getType<string>() === 'graphql') return toAppError(thrown);
    const reply = host.switchToHttp().getResponse<FastifyReply>();
    const error = toAppError(thrown);
    const { status } = ERRORS[error.code];
    if (status >= 500 && error.cause) this.log(error, reply.request.id);
    // Closing at once would break off a client that is still sending, before it has read why.
    if (error.code === 'PAYLOAD_TOO_LARGE') reply.removeHeader('connection');
    reply.status(status).headers(error.headers).send(toEnvelope(error));
  }

  /** Faults of ours are errors; a database that is away, or a draining process, is only worth a warning. */
  private log(error: AppError, requestId: string): void {
    const line = { requestId, err: error.cause };
    if (error.code === 'INTERNAL_ERROR') this.logger.error(line);
    else this.logger.warn(line);
  }
}
