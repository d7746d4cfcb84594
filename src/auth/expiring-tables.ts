/** What of accounts does not last, and is purged. */
export const EXPIRING_TABLES = ['logins', 'login_failures', 'login_codes', 'account_tokens', 'mail_limits'];
