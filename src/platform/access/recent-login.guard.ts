import {
  applyDecorators,
  type CanActivate,
  type ExecutionContext,
  Injectable,
  SetMetadata,
  type Type,
  UseGuards,
} from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import { ApiBody } from '@nestjs/swagger';
import { AppError, ERRORS } from '../http/errors/errors.js';
import { INPUT, Throws } from '../http/openapi/returns.js';
import { principalOf } from '../http/principal.js';
import { requestOf } from '../http/request-of.js';
import { checkInput } from '../http/validation/input.pipe.js';
import { ChecksPassword } from './incorrect-password.js';
import { RECENT_ERRORS, RecentInput, RecentLogins } from './recent-logins.js';

interface Options {
  /** The body of the call; it is optional if it has nothing but the proof. */
  readonly body: Type<RecentInput>;
  /** Whether the handler checks the code, which must be checked only once. */
  readonly handlerChecksCode?: boolean;
}

const RecentLoginOptions = Reflector.createDecorator<Options>();

/** Admits callers with a recent login, or with the proof in the body: their password, and a code if one is needed. */
@Injectable()
class RecentLoginGuard implements CanActivate {
  constructor(
    private readonly recent: RecentLogins,
    private readonly reflector: Reflector,
  ) {}

  async canActivate(context: ExecutionContext): Promise<boolean> {
    const { body, handlerChecksCode } = this.reflector.get(RecentLoginOptions, context.getHandler());
    const request = requestOf(context);
    const caller = principalOf(request);
    if (!caller) throw new AppError('UNAUTHENTICATED', ERRORS.UNAUTHENTICATED.message);
    const { body: sent = body === RecentInput ? {} : undefined } = request;
    const proof = await checkInput(body, sent);
    const { client } = request.context;
    if (handlerChecksCode) await this.recent.requirePassword(caller, proof.password, client);
    else await this.recent.require(caller, proof, client);
    return true;
  }
}

/**
 * Declares what a call has that needs a recent login: its body, the wrong password, and its errors. The service calls
 * {@link RecentLogins.require} after what it checks before: neither a failed login nor a used code must come of a call
 * that is refused anyway.
 *
 * @param body the class of a body with more members
 */
export const ChecksRecentLogin = (body: Type<RecentInput> = RecentInput): MethodDecorator =>
  applyDecorators(
    ChecksPassword(),
    Throws(RECENT_ERRORS),
    ...(body === RecentInput
      ? [ApiBody({ type: RecentInput, required: false }), SetMetadata(INPUT, RecentInput)]
      : []),
  );

/**
 * For a handler over REST that does what a stolen token must not be enough for, and refuses nothing else before: the
 * login of the caller is at most 5 minutes old, or the body has the password, and a code while two-step login is on.
 *
 * @param body the class of a body with more members
 */
export const RecentLogin = (
  body: Type<RecentInput> = RecentInput,
  options: Omit<Options, 'body'> = {},
): MethodDecorator =>
  applyDecorators(
    RecentLoginOptions({ body, ...options }),
    UseGuards(RecentLoginGuard),
    ChecksRecentLogin(body),
  );
