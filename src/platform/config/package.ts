import { readFileSync } from 'node:fs';
import { ConfigError } from './config-error.js';

interface Package {
  readonly name: string;
  readonly title: string;
  readonly version: string;
  readonly description: string;
  readonly databases: unknown;
}

const {
  name,
  title,
  version,
  description,
  databases: declared,
}: Package = JSON.parse(readFileSync(new URL('../../../package.json', import.meta.url), 'utf8'));
const names = JSON.stringify(declared);
if (names !== '["sqlite","postgres"]' && names !== '["postgres"]')
  throw new ConfigError('"databases" of package.json must be ["sqlite", "postgres"] or ["postgres"]');

/** The name of the service, for programs and for people, which `npm run rename` changes everywhere, and what it is. */
export const SERVICE = { name, title, version, description } as const;

/** Whether the service supports PostgreSQL alone, and may use what SQLite does not have: `databases` of package.json. */
export const isPostgresOnly = names === '["postgres"]';

/** For a column or a migration that only one database understands. */
export const WORKS_ON_BOTH =
  'Columns and migrations have to work on SQLite and on PostgreSQL, unless package.json has "databases": ["postgres"]';
