// What the rest of the service may know of tokens.
export { TokensModule } from './tokens.module.js';
export { TokenPair, TokensService } from './tokens.service.js';
