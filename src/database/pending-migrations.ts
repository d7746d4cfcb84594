import { isMissingTable } from './failures.js';
import { migrations } from './migrations/index.js';

/** How many migrations of this build have not run. @param ran reads the table of those that have */
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
