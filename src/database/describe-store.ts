import { resolve } from 'node:path';
import type { Config } from '../config/config.js';

/** The place of the data for people, without its password. */
export function describeStore(store: Config['store']): string {
  if (store.kind === 'sqlite') return `SQLite in ${resolve(store.directory)}`;
  const servers = store.servers.length > 0 ? store.servers : [store.url];
  return `PostgreSQL at ${servers.map((server) => new URL(server).host).join(',')}${new URL(store.url).pathname}`;
}
