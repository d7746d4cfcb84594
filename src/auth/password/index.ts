// The public interface of passwords.
export { PasswordChanges } from './password-changes.js';
export { PasswordModule } from './password.module.js';
export { Registrations } from './registrations.js';
