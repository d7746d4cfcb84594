// The public interface of accounts.
export { Account, NO_PASSWORD, roleOf } from './account.entity.js';
export { ChangePasswordInput, LoginInput, RegisterInput, UpdateAccountInput } from './account.input.js';
export { ACCOUNT, type AccountRow, toAccount } from './account.row.js';
export { AccountView, toAccountView } from './account.view.js';
export { AccountsModule } from './accounts.module.js';
export { accountDeleted, AccountsService, REGISTRATION_CLOSED } from './accounts.service.js';
export { counterId, Counters, type Limit } from './counters.js';
export { badCredentials, Credentials, EMAIL_NOT_VERIFIED, emailNotVerified } from './credentials.js';
export {
  EmailAddress,
  emailKey,
  isSameEmail,
  NewEmailAddress,
  normalizeEmail,
  normalizeNewEmail,
} from './email.js';
export { LoginThrottle } from './login-throttle.js';
export { OneTimeSecrets } from './one-time-secrets.js';
export { PasswordPolicy } from './passwords/password-policy.js';
export { PASSWORD_COST, Passwords } from './passwords/passwords.js';
