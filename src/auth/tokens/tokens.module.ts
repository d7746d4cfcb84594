import { Module } from '@nestjs/common';
import { JwtModule } from '@nestjs/jwt';
import { Config } from '../../config/config.js';
import { AccountsModule } from '../accounts/index.js';
import { LoginsModule } from '../logins/index.js';
import { JwtStrategy } from './jwt.strategy.js';
import { TokenCodec } from './token-codec.js';
import { TokensController } from './tokens.controller.js';
import { TokensService } from './tokens.service.js';

/** Bearer tokens. */
@Module({
  imports: [
    AccountsModule,
    LoginsModule,
    JwtModule.registerAsync({
      inject: [Config],
      useFactory: ({ jwtSecret }: Config) => ({ secret: jwtSecret, signOptions: { algorithm: 'HS256' } }),
    }),
  ],
  controllers: [TokensController],
  providers: [JwtStrategy, TokenCodec, TokensService],
  exports: [TokensService],
})
export class TokensModule {}
