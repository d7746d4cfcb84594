import { SetMetadata } from '@nestjs/common';

export const ACCESS = Symbol('access');

/**
 * Who may call a handler: everyone; whoever the setting `WRITE_ACCESS` lets change things; or staff. A
 * handler without one of the decorators below, in a class without one, takes an account.
 */
export type Access = 'public' | 'write' | 'staff';

const allow = (access: Access): ClassDecorator & MethodDecorator =>
  SetMetadata<symbol, Access>(ACCESS, access);

/** Everyone may call this. Credentials are not looked at. */
export const Public = (): ClassDecorator & MethodDecorator => allow('public');

/** Only accounts that are staff may call this. */
export const StaffOnly = (): ClassDecorator & MethodDecorator => allow('staff');

/**
 * Who may change things here follows the setting `WRITE_ACCESS`: anyone, any account, or staff. Reading
 * (GET and HEAD over REST, queries over GraphQL) is open in each of them.
 */
export const WriteAccess = (): ClassDecorator & MethodDecorator => allow('write');
