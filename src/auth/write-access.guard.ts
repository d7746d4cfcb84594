import { type CanActivate, type ExecutionContext, Injectable } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import type { FastifyRequest } from 'fastify';
import { AppError } from '../common/errors/errors.js';
import { Config } from '../config/config.js';
import { WRITE_ACCESS } from './write-access.js';

const SAFE_METHODS = new Set(['GET', 'HEAD']);

/** Enforces {@link WriteAccess}. There are no accounts yet, so that every mode but `open` refuses everyone. */
@Injectable()
export class WriteAccessGuard implements CanActivate {
  constructor(
    private readonly reflector: Reflector,
    private readonly config: Config,
  ) {}

  canActivate(context: ExecutionContext): boolean {
    if (this.config.writeAccess === 'open') return true;
    const governed = this.reflector.getAllAndOverride<boolean | undefined>(WRITE_ACCESS, [
      context.getHandler(),
      context.getClass(),
    ]);
    if (!governed) return true;
    const { method } = context.switchToHttp().getRequest<FastifyRequest>();
    if (SAFE_METHODS.has(method)) return true;
    throw new AppError('UNAUTHENTICATED', 'Changing this takes an account; please authenticate');
  }
}
