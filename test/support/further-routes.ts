import { globSync } from 'node:fs';
import { resolve } from 'node:path';
import type { Reply, TestApi } from './api.js';

/**
 * Routes and mutations that `test/audit-routes.e2e-spec.ts` cannot call by the reference alone, such as `POST /v1/files` or
 * `mutation payInvoice`: how a member of staff calls them successfully, or why their calls have no entry in the audit log.
 */
export type AuditRoutes = Readonly<
  Record<string, string | ((api: TestApi, staff: Record<string, string>) => Promise<Reply>)>
>;

/** Gives a member of staff what calls need, such as a role. It is called more than once. */
export type Prepare = (api: TestApi, staff: Record<string, string>) => Promise<unknown>;

/** What modules say that a team has added: `test/*.audit.ts`, with a default export and `prepare`. */
export async function furtherRoutes(): Promise<{ readonly routes: AuditRoutes; readonly prepare: Prepare }> {
  const modules: { default?: AuditRoutes; prepare?: Prepare }[] = await Promise.all(
    globSync('test/*.audit.ts').map((file) => import(resolve(file))),
  );
  return {
    routes: Object.assign({}, ...modules.map((each) => each.default)),
    prepare: async (api, staff) => {
      for (const each of modules) await each.prepare?.(api, staff);
    },
  };
}
