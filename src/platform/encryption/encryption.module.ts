import { Module } from '@nestjs/common';
import { EncryptedColumns } from './encrypted-columns.js';
import { Encryption } from './encryption.js';

/** Encryption of stored secrets that must be read back. It depends on no module that has such secrets. */
@Module({
  providers: [EncryptedColumns, Encryption],
  exports: [EncryptedColumns, Encryption],
})
export class EncryptionModule {}
