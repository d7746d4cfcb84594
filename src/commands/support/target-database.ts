import { describeStore, type StoreConfig } from '../../platform/config/store.js';
import { isMissing } from '../../platform/database/data-source.js';
import { confirm } from './ask.js';

type Store = StoreConfig['store'];

/**
 * Names the database that a command is about to change, and asks before it creates one.
 *
 * @param yes whether the person has agreed already, with `--yes`
 * @returns whether there is no database yet
 * @throws UsageError when the person does not agree
 */
export async function nameTarget(store: Store, yes: boolean): Promise<boolean> {
  console.error(`Database: ${describeStore(store)}`);
  if (!isMissing(store)) return false;
  console.error('There is no database there yet; this command creates a new one.');
  await confirm('Create a new database?', yes);
  return true;
}
