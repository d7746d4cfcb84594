// The public interface of tokens.
export { TokensModule } from './tokens.module.js';
export { TokenPair, TokensService } from './tokens.service.js';
