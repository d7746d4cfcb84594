import { SetMetadata } from '@nestjs/common';

export const WRITE_ACCESS = Symbol('write access');

/**
 * Who may change things here follows the setting `WRITE_ACCESS`: anyone, any account, or staff. Reading
 * (GET, HEAD) is open in each of them.
 */
export const WriteAccess = (): ClassDecorator & MethodDecorator => SetMetadata(WRITE_ACCESS, true);
