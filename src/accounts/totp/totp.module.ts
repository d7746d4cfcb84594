import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { EncryptionModule } from '../../platform/encryption/index.js';
import { PasswordModule } from '../password/password.module.js';
import { CodeChecks } from './code-checks.js';
import { FactorsController } from './factors.controller.js';
import { TotpFactor } from './totp-factor.entity.js';
import { TotpFactors } from './totp-factors.js';
import { TotpService } from './totp.service.js';

/** Authenticator apps and recovery codes. */
@Module({
  imports: [TypeOrmModule.forFeature([TotpFactor]), PasswordModule, EncryptionModule],
  controllers: [FactorsController],
  providers: [CodeChecks, TotpFactors, TotpService],
  exports: [CodeChecks],
})
export class TotpModule {}
