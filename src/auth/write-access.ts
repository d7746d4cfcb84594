import { SetMetadata } from '@nestjs/common';
import { type Access, ACCESS } from './access.js';

/**
 * Who may change things here follows the setting `WRITE_ACCESS`: anyone, any account, or staff. Reading
 * (GET and HEAD over REST, queries over GraphQL) is open in each of them.
 */
export const WriteAccess = (): ClassDecorator & MethodDecorator =>
  SetMetadata<symbol, Access>(ACCESS, 'write');
