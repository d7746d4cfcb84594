import { Module } from '@nestjs/common';
import { JwtModule } from '@nestjs/jwt';
import { LoginModule } from '../login/login.module.js';
import { JwksController } from './jwks.controller.js';
import { JwtStrategy } from './jwt.strategy.js';
import { RefreshTokens } from './refresh-tokens.js';
import { SigningKeys } from './signing-keys.js';
import { TokenCodec } from './token-codec.js';
import { TokensController } from './tokens.controller.js';
import { TokensService } from './tokens.service.js';

/** Bearer tokens. */
@Module({
  imports: [
    LoginModule,
    // `SigningKeys` has the keys.
    JwtModule.register({}),
  ],
  controllers: [JwksController, TokensController],
  providers: [JwtStrategy, RefreshTokens, SigningKeys, TokenCodec, TokensService],
  exports: [TokensService],
})
export class TokensModule {}
