// What the rest of the service may know of accounts.
export { Account, roleOf } from './account.entity.js';
export { ChangePasswordInput, LoginInput, RegisterInput, UpdateAccountInput } from './account.input.js';
export { ACCOUNT, type AccountRow, toAccount } from './account.row.js';
export { AccountView, toAccountView } from './account.view.js';
export { AccountsModule } from './accounts.module.js';
export { AccountsService } from './accounts.service.js';
export { badCredentials, Credentials } from './credentials.js';
export { emailKey, normalizeEmail } from './email.js';
export { INCORRECT_PASSWORD, IncorrectPassword, IncorrectPasswordFilter } from './incorrect-password.js';
export { PasswordPolicy } from './passwords/password-policy.js';
export { Passwords } from './passwords/passwords.js';
