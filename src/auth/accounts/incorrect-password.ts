import { type ArgumentsHost, Catch, type ExceptionFilter } from '@nestjs/common';
import type { FastifyReply } from 'fastify';

/** The given old password is not the current one. */
export class IncorrectPassword extends Error {
  override readonly name = 'IncorrectPassword';
  override readonly message = 'The current password is incorrect';
}

/** As the reference shows it. */
export const INCORRECT_PASSWORD = {
  type: 'object',
  properties: { error: { type: 'string', const: new IncorrectPassword().message } },
  required: ['error'],
  additionalProperties: false,
};

/**
 * The only error response without the envelope and without a code of the table: the specification requires
 * `{"error": "<string>"}` here.
 */
@Catch(IncorrectPassword)
export class IncorrectPasswordFilter implements ExceptionFilter<IncorrectPassword> {
  catch({ message }: IncorrectPassword, host: ArgumentsHost): void {
    host.switchToHttp().getResponse<FastifyReply>().status(400).send({ error: message });
  }
}
