import { isMissingTable } from './failures.js';
import { migrations } from './migrations/index.js';

/** The number of pending migrations of this build. @param ran reads the table of migrations that ran */
export async function countPending(
  ran: () => Promise<readonly { readonly name: string }[]>,
): Promise<number> {
  const rows = await ran().catch((error: unknown) => {
    if (isMissingTable(error)) return [];
    throw error;
  });
  const names = new Set(rows.map(({ name }) => name));
  return migrations.filter(({ name }) => !names.has(name)).length;
}
