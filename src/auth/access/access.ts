import { SetMetadata } from '@nestjs/common';

export const ACCESS = Symbol('access');

/**
 * Who may call a handler: everyone; whoever the setting `WRITE_ACCESS` lets change things, or also read them;
 * everyone, with
 * an account or without; or staff. A handler without one of the decorators below, in a class without one, needs an account.
 */
export type Access = 'public' | 'optional' | 'write' | 'owner' | 'staff';

const allow = (access: Access): ClassDecorator & MethodDecorator =>
  SetMetadata<symbol, Access>(ACCESS, access);

/** Everyone may call this. Credentials are not looked at. */
export const Public = (): ClassDecorator & MethodDecorator => allow('public');

/**
 * Everyone may call this, and an account may see more: unless `WRITE_ACCESS` is `open`, credentials are looked at, and
 * wrong ones are rejected.
 */
export const OptionalAccess = (): ClassDecorator & MethodDecorator => allow('optional');

/** Only accounts that are staff may call this. */
export const StaffOnly = (): ClassDecorator & MethodDecorator => allow('staff');

/**
 * Who may change things here follows the setting `WRITE_ACCESS`: anyone, any account, or staff. Reading
 * (GET and HEAD over REST, queries over GraphQL) is open in each of them.
 */
export const WriteAccess = (): ClassDecorator & MethodDecorator => allow('write');

/**
 * As {@link WriteAccess}, for what belongs to accounts: unless the setting is `open`, reading needs an account
 * as well. The handler shows an account what belongs to it, and staff everything.
 */
export const OwnerAccess = (): ClassDecorator & MethodDecorator => allow('owner');
