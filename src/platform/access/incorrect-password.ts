import { applyDecorators, type ArgumentsHost, Catch, type ExceptionFilter, UseFilters } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import { ThrowsOther } from '../http/openapi/returns.js';

/** The given password is not the current one. */
export class IncorrectPassword extends Error {
  override readonly name = 'IncorrectPassword';
  override readonly message = 'The current password is incorrect';
}

/**
 * The only error response without the envelope and without a code of the table: the specification requires
 * `{"error": "<string>"}` here.
 */
@Catch(IncorrectPassword)
class IncorrectPasswordFilter implements ExceptionFilter<IncorrectPassword> {
  catch({ message }: IncorrectPassword, host: ArgumentsHost): void {
    host.switchToHttp().getResponse<FastifyReply>().status(400).send({ error: message });
  }
}

/** For handlers that check the password of a logged-in account again. */
export const ChecksPassword = (): MethodDecorator =>
  applyDecorators(
    UseFilters(IncorrectPasswordFilter),
    ThrowsOther(400, 'IncorrectPassword', {
      type: 'object',
      properties: { error: { type: 'string', const: new IncorrectPassword().message } },
      required: ['error'],
      additionalProperties: false,
    }),
  );
