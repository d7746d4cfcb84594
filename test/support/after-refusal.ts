import type { Reply, TestApi } from './api.js';

/** More than any limit of failures that count. */
export const REFUSALS = 25;

/**
 * Makes a call while a table is away, which refuses it again and again, and then once more: what was refused must have left
 * nothing behind, no count, no key in use and no mail.
 *
 * @param table is renamed meanwhile
 * @returns the last reply
 * @throws Error if a call is not refused with 503
 */
export async function afterRefusal(
  { rows }: TestApi,
  table: string,
  call: () => Promise<Reply>,
): Promise<Reply> {
  await rows.execute(`ALTER TABLE ${table} RENAME TO away_${table}`);
  try {
    for (let n = 0; n < REFUSALS; n++) {
      const { status, text } = await call();
      if (status !== 503) throw new Error(`It was not refused: ${status} ${text}`);
    }
  } finally {
    await rows.execute(`ALTER TABLE away_${table} RENAME TO ${table}`);
  }
  return call();
}
