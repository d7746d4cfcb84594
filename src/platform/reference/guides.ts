/** The guides that explain operations, by the beginning of their paths; the first that fits counts. */
const GUIDES: readonly [start: string, guide: string, title: string][] = [
  ['/v1/posts', 'posts', 'Posts'],
  ['/v1/orders', 'orders', 'Orders'],
  ['/v1/events', 'events', 'Events'],
  ['/v1/webhooks', 'webhooks', 'Webhooks'],
  ['/v1/audit', 'operations#audit-log', 'Audit log'],
  ['/v1/users', 'users', 'Users'],
  ['/v2/users', 'users', 'Users'],
  ['/auth/session', 'sessions', 'Sessions'],
  ['/auth/mfa', 'second-factors', 'Second factors'],
  ['/auth/passkeys', 'passkeys', 'Passkeys'],
  ['/auth/api-keys', 'api-keys', 'API keys'],
  ['/auth/social', 'social-login', 'Social login'],
  ['/auth/identities', 'social-login', 'Social login'],
  ['/auth/email', 'accounts', 'Accounts'],
  ['/auth/password', 'accounts', 'Accounts'],
  ['/auth/me/export', 'accounts#exporting-an-account', 'Exporting an account'],
  ['/auth/', 'authentication', 'Authentication'],
  ['/.well-known/jwks', 'tokens#verify-tokens-in-another-service', 'Verify tokens in another service'],
  ['/health', 'http#health', 'Health'],
];

/**
 * A link to the guide of an operation, in Markdown; `undefined` for modules that have none. Many tools accept only
 * absolute URLs as `externalDocs`, and the service does not know its own.
 */
export function guideOf(path: string): string | undefined {
  const [, guide, title] = GUIDES.find(([start]) => path.startsWith(start)) ?? [];
  return guide === undefined ? undefined : `Guide: [${title}](/guides/${guide})`;
}
