import { ConfigError } from '../../config/config-error.js';

/** An error of the user, such as a wrong flag; printed without a stack. */
export class UsageError extends ConfigError {}
