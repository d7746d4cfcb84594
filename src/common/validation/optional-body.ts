import { createParamDecorator, type ExecutionContext } from '@nestjs/common';
import { requestOf } from '../request/request-of.js';

/**
 * The body of a request; an absent one is `{}`. It passes no pipe: validate it with
 * `checkInput()`.
 */
export const OptionalBody = createParamDecorator(
  (_: unknown, context: ExecutionContext): unknown => requestOf(context).body ?? {},
);
