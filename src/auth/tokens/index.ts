// The public interface of tokens.
export { bearerTokens, JwtStrategy } from './jwt.strategy.js';
export { TokensModule } from './tokens.module.js';
export { TokenPair, TokensService } from './tokens.service.js';
