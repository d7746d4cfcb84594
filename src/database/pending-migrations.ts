import { isMissingTable } from './failures.js';
import { migrations } from './migrations/index.js';

type Ran = () => Promise<readonly { readonly name: string }[]>;

/** The migrations of this build that have not run. @param ran reads the table of those that have */
export async function pendingMigrations(ran: Ran): Promise<typeof migrations> {
  const rows = await ran().catch((error: unknown) => {
    if (isMissingTable(error)) return [];
    throw error;
  });
  const names = new Set(rows.map(({ name }) => name));
  return migrations.filter(({ name }) => !names.has(name));
}

/** How many they are. */
export const countPending = async (ran: Ran): Promise<number> => (await pendingMigrations(ran)).length;
