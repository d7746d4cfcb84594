// The public interface of accounts.
export { Account, roleOf } from './account.entity.js';
export { ChangePasswordInput, LoginInput, RegisterInput, UpdateAccountInput } from './account.input.js';
export { ACCOUNT, type AccountRow, toAccount } from './account.row.js';
export { AccountView, toAccountView } from './account.view.js';
export { AccountsModule } from './accounts.module.js';
export { accountDeleted, AccountsService, REGISTRATION_CLOSED } from './accounts.service.js';
export { badCredentials, Credentials, EMAIL_NOT_VERIFIED } from './credentials.js';
export {
  EmailAddress,
  emailKey,
  isSameEmail,
  NewEmailAddress,
  normalizeEmail,
  normalizeNewEmail,
} from './email.js';
export { INCORRECT_PASSWORD, IncorrectPassword, IncorrectPasswordFilter } from './incorrect-password.js';
export { LoginThrottle, TOO_MANY_CODES, TOO_MANY_FAILURES } from './login-throttle.js';
export { LAST_WAY, LoginWays } from './login-ways.js';
export { PasswordPolicy } from './passwords/password-policy.js';
export { NO_PASSWORD, PASSWORD_COST, Passwords } from './passwords/passwords.js';
