import { applyDecorators, SetMetadata } from '@nestjs/common';
import type { FastifyContextConfig } from 'fastify';
import { ConfigureRoute } from '../http/route-config.js';

export const ACCESS = Symbol('access');

/** Whether API keys may call a handler, as far as their scope allows it. By default they may. */
export const API_KEYS = Symbol('API keys');

/** API keys may not call this: a key must not lead to another way into its account. */
export const WithoutApiKeys = (): ClassDecorator => SetMetadata(API_KEYS, false);

/** API keys may call this, whatever its class says. */
export const WithApiKeys = (): MethodDecorator => SetMetadata(API_KEYS, true);

/**
 * Who may call a handler: everyone (`public`); everyone, authenticated or not (`optional`, `public with account`);
 * callers that the setting `WRITE_ACCESS` allows to write (`write`); the same, and any account for reads, unless the
 * setting is `open` (`owner`: the service chooses the rows that the account may see); accounts, as without a decorator;
 * staff; superusers; or browsers with a session cookie (`cookie`).
 */
export type Access =
  | 'public'
  | 'public with account'
  | 'optional'
  | 'write'
  | 'owner'
  | 'account'
  | 'staff'
  | 'superuser'
  | 'cookie';

const allow = (
  access: Access,
  dependsOnCaller?: FastifyContextConfig['dependsOnCaller'],
): ClassDecorator & MethodDecorator =>
  applyDecorators(SetMetadata<symbol, Access>(ACCESS, access), ConfigureRoute({ dependsOnCaller }));

/** Everyone may call this. Credentials are not checked. */
export const Public = (): ClassDecorator & MethodDecorator => allow('public');

/**
 * Everyone may call this; an account may get more. Credentials are checked, and invalid ones are rejected.
 *
 * @param options.always whether also while `WRITE_ACCESS` is `open`
 */
export const OptionalAccess = ({ always = false } = {}): ClassDecorator & MethodDecorator =>
  always ? allow('public with account', 'always') : allow('optional', 'unless open');

/** Only accounts may call this, as without a decorator: for a handler of a class that has another one. */
export const AccountsOnly = (): ClassDecorator & MethodDecorator => allow('account', 'always');

/** Only superusers may call this, whom only an operator appoints. */
export const SuperusersOnly = (): ClassDecorator & MethodDecorator => allow('superuser', 'always');

/** Only staff accounts may call this. */
export const StaffOnly = (): ClassDecorator & MethodDecorator => allow('staff', 'always');

/**
 * The setting `WRITE_ACCESS` decides who may write: anyone, any account, or staff. Reading
 * (GET and HEAD over REST, queries over GraphQL) is always open.
 */
export const WriteAccess = (): ClassDecorator & MethodDecorator => allow('write');

/**
 * Like {@link WriteAccess}, for resources of accounts: unless the setting is `open`, reading requires an account
 * too. The handler returns to an account its own resources, and to staff all of them.
 */
export const OwnerAccess = (): ClassDecorator & MethodDecorator => allow('owner', 'unless open');
