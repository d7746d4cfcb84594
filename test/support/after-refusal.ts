import type { TestApi, Reply } from './api.js';

/** More than any limit of failures that count. */
const REFUSALS = 25;

/**
 * Makes a call while tables are away, which refuses it again and again, and then once more: what was refused must have left
 * nothing behind, no count, no key in use and no mail.
 *
 * @param tables are renamed meanwhile
 * @returns the last reply
 * @throws Error if a call is not refused with 503
 */
export async function afterRefusal(
  { rows }: TestApi,
  tables: readonly string[],
  call: () => Promise<Reply>,
): Promise<Reply> {
  for (const table of tables) await rows.execute(`ALTER TABLE ${table} RENAME TO away_${table}`);
  try {
    for (let n = 0; n < REFUSALS; n++) {
      const { status, text } = await call();
      if (status !== 503) throw new Error(`It was not refused: ${status} ${text}`);
    }
  } finally {
    for (const table of tables) await rows.execute(`ALTER TABLE away_${table} RENAME TO ${table}`);
  }
  return call();
}
