import { type CanActivate, type ExecutionContext, Injectable } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import { InjectRepository } from '@nestjs/typeorm';
import { In, type Repository } from 'typeorm';
import { requestOf } from '../../../../src/platform/http/request-of.js';
import { AccountRole, type Role } from './account-role.entity.js';

/** The handler is for accounts with one of the roles. */
export const Roles = Reflector.createDecorator<readonly Role[]>();

/** Runs after the guard of the service, which has found the account. */
@Injectable()
export class RolesGuard implements CanActivate {
  constructor(
    private readonly reflector: Reflector,
    @InjectRepository(AccountRole) private readonly roles: Repository<AccountRole>,
  ) {}

  async canActivate(context: ExecutionContext): Promise<boolean> {
    const allowed = this.reflector.getAllAndOverride(Roles, [context.getHandler(), context.getClass()]);
    if (!allowed) return true;
    const { user } = requestOf(context);
    return user != null && this.roles.existsBy({ accountId: user.id, role: In(allowed) });
  }
}
