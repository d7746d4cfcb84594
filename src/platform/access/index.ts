// The public interface of access.
export { AccountData, exportOf, LAST_WAY, OwnedByAccount, type OwnedData } from './account-data.js';
export {
  ACCESS,
  type Access,
  API_KEYS,
  AccountsOnly,
  OptionalAccess,
  OwnerAccess,
  Public,
  StaffOnly,
  SuperusersOnly,
  WithApiKeys,
  WithoutApiKeys,
  WriteAccess,
} from './access.js';
export { AccessGuard, OUT_OF_SCOPE } from './access.guard.js';
export { AccessModule } from './access.module.js';
export { Authenticator } from './authenticator.js';
export { CredentialWatch, type Rights } from './credential-watch.js';
export { Credential, readBearer, RequestStrategy } from './credential.js';
export { CurrentAccount, CurrentPrincipal } from './current-account.js';
export {
  API_KEY_SCOPES,
  type ApiKeyInfo,
  type ApiKeyScope,
  type CallingAccount,
  type SessionInfo,
  type SessionKind,
  type Principal,
} from '../http/principal.js';
export { ChecksPassword, IncorrectPassword } from './incorrect-password.js';
export { ChecksRecentLogin, RecentLogin } from './recent-login.guard.js';
export {
  CODE_ERRORS,
  RECENT_TO_READ_ERRORS,
  RecentInput,
  RecentLogins,
  TOO_MANY_CODES,
  TOO_MANY_FAILURES,
  WRONG_CODE,
} from './recent-logins.js';
export { tokenExpired, tokenNotValid } from './token-not-valid.js';
