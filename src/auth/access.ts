import { SetMetadata } from '@nestjs/common';

export const ACCESS = Symbol('access');

/**
 * Who may call a handler: everyone; whoever the setting `WRITE_ACCESS` lets change things; or staff. A
 * handler that says nothing, and whose class says nothing, is for every account.
 */
export type Access = 'public' | 'write' | 'staff';

/** Everyone may call this. Credentials are not looked at. */
export const Public = (): ClassDecorator & MethodDecorator => SetMetadata<symbol, Access>(ACCESS, 'public');

/** Only accounts that are staff may call this. */
export const StaffOnly = (): ClassDecorator & MethodDecorator => SetMetadata<symbol, Access>(ACCESS, 'staff');
