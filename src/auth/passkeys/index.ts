// The public interface of passkeys.
export { PasskeyLoginInput, PasskeySessionInput } from './passkey.input.js';
export { PasskeyLogins, WRONG_PASSKEY } from './passkey-logins.js';
export { Passkeys } from './passkeys.js';
export { PasskeysModule, StoredPasskeysModule } from './passkeys.module.js';
