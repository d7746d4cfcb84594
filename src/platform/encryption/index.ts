// The public interface of encryption.
export { EncryptedColumns } from './encrypted-columns.js';
export { Encryption } from './encryption.js';
export { EncryptionModule } from './encryption.module.js';
