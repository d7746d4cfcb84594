import { createParamDecorator, type ExecutionContext } from '@nestjs/common';
import { requestOf } from '../request/request-of.js';

/**
 * The body of a request that may have none, which counts as `{}`. It passes no pipe: check it with
 * `checkInput()`.
 */
export const OptionalBody = createParamDecorator(
  (_: unknown, context: ExecutionContext): unknown => requestOf(context).body ?? {},
);
