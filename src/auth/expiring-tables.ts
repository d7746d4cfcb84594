/** The rows of authentication that expire and are purged. */
export const EXPIRING_TABLES = ['logins', 'login_failures', 'login_codes', 'account_tokens', 'mail_limits'];
