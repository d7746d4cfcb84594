import { Module } from '@nestjs/common';
import { HealthController } from './health.controller.js';
import { Readiness } from '../platform/operations/readiness.service.js';

@Module({ controllers: [HealthController], providers: [Readiness], exports: [Readiness] })
export class HealthModule {}
