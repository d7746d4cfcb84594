import { globSync } from 'node:fs';
import { resolve } from 'node:path';
import type { Reply, TestApi } from './api.js';

/**
 * Routes that `test/audit-routes.e2e-spec.ts` cannot call by the reference alone, such as `POST /v1/files`: how a member of
 * staff calls them successfully, or why their calls have no entry in the audit log.
 */
export type AuditRoutes = Readonly<
  Record<string, string | ((api: TestApi, staff: Record<string, string>) => Promise<Reply>)>
>;

/** Those of modules that a team has added: the default exports of `test/*.audit.ts`. */
export async function furtherRoutes(): Promise<AuditRoutes> {
  const files = globSync('test/*.audit.ts').map(async (file) => (await import(resolve(file))).default);
  return Object.assign({}, ...(await Promise.all(files)));
}
