// The public interface of API keys.
export { ApiKeysModule } from './api-keys.module.js';
