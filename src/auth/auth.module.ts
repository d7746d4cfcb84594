import { Module } from '@nestjs/common';
import { APP_GUARD } from '@nestjs/core';
import { WriteAccessGuard } from './write-access.guard.js';

@Module({ providers: [{ provide: APP_GUARD, useClass: WriteAccessGuard }] })
export class AuthModule {}
