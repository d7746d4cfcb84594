import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { LoginModule } from '../login/login.module.js';
import { PasswordModule } from '../password/password.module.js';
import { TokensModule } from '../tokens/tokens.module.js';
import { Challenges } from './challenges.js';
import { PasskeyLogins } from './passkey-logins.js';
import { Passkey } from './passkey.entity.js';
import { PasskeysController } from './passkeys.controller.js';
import { PasskeysService } from './passkeys.service.js';
import { WebAuthn } from './webauthn.js';

/** Passkeys: their registration, and logins with them. */
@Module({
  imports: [TypeOrmModule.forFeature([Passkey]), PasswordModule, LoginModule, TokensModule],
  controllers: [PasskeysController],
  providers: [Challenges, PasskeyLogins, PasskeysService, WebAuthn],
  exports: [PasskeyLogins],
})
export class PasskeyModule {}
