// The public interface of logins.
export { Login } from './login.entity.js';
export { Logins } from './logins.js';
export {
  ChecksPassword,
  NOT_RECENT_TO_READ,
  RECENT_ERRORS,
  RecentInput,
  RecentLogins,
  requireCode,
} from './recent-logins.js';
export { LoginsModule } from './logins.module.js';
