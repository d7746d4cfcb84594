// The public interface of API keys.
export { ApiKeys } from './api-keys.js';
export { ApiKeysModule, StoredApiKeysModule } from './api-keys.module.js';
