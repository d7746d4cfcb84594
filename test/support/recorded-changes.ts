import { EVERY_EVENT, EventLog, EventStore, StoredEvent } from '../../src/platform/changes/index.js';
import type { TestApi } from './api.js';

const ALL = { limit: 10_000, bytes: 64 * 1024 * 1024 };

/** The recorded events of some types, or of all, as their consumers get them, the oldest first. */
export async function recordedEvents({ app }: TestApi, ...types: string[]): Promise<any[]> {
  await app.get(EventLog, { strict: false }).catchUp();
  const rows = await app.get(EventStore, { strict: false }).read(0, EVERY_EVENT, ALL);
  return rows
    .map((row) => JSON.parse(new StoredEvent(row, 'test').json))
    .filter(({ type }) => types.length === 0 || types.includes(type));
}
