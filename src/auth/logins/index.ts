// The public interface of logins.
export { Login } from './login.entity.js';
export { LoginsModule } from './logins.module.js';
export { LoginsService } from './logins.service.js';
