import { Module } from '@nestjs/common';
import { JwtModule } from '@nestjs/jwt';
import { AccountsModule } from '../../accounts/accounts.module.js';
import { TotpModule } from '../totp/totp.module.js';
import { LoginsModule } from './logins.module.js';
import { PasskeysModule } from '../passkey/passkey.module.js';
import { JwksController } from './jwks.controller.js';
import { JwtStrategy } from './jwt.strategy.js';
import { SigningKeys } from './signing-keys.js';
import { TokenCodec } from './token-codec.js';
import { TokensController } from './tokens.controller.js';
import { TokensService } from './tokens.service.js';

/** Bearer tokens. */
@Module({
  imports: [
    AccountsModule,
    LoginsModule,
    TotpModule,
    PasskeysModule,
    // `SigningKeys` has the keys.
    JwtModule.register({}),
  ],
  controllers: [JwksController, TokensController],
  providers: [JwtStrategy, SigningKeys, TokenCodec, TokensService],
  exports: [TokensService],
})
export class TokensModule {}
