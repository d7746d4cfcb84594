// The public interface of passkeys.
export { PasskeyLoginInput, PasskeySessionInput } from './passkey.input.js';
export { PasskeyLogins, WRONG_PASSKEY } from './passkey-logins.js';
export { PasskeysModule } from './passkeys.module.js';
export { PasskeysService } from './passkeys.service.js';
