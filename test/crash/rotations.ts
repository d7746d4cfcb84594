import { join } from 'node:path';
import Database from 'better-sqlite3';
import { Client } from 'pg';
import type { Service } from '../support/service.ts';
import { type Load, send } from './load.ts';

const LOGINS = 8;
const CREDENTIALS = { email: 'crash@example.com', name: 'Crash', password: 'crash test password' };

/** A login, its last acknowledged refresh token, and the used ones. */
interface Family {
  token: string;
  used: string[];
}

interface Row {
  readonly refresh_jti: string;
  readonly previous_jti: string | null;
}

/**
 * Refreshes tokens until the service is killed. Then every used token must be rejected, and the last acknowledged one
 * is either still valid or has its successor in the database, because the request in flight used it.
 */
export class Rotations {
  private readonly environment: Readonly<Record<string, string>>;
  private families: Family[] = [];

  constructor(environment: Readonly<Record<string, string>>) {
    this.environment = environment;
  }

  async start(service: Service): Promise<void> {
    const init = json(CREDENTIALS);
    await service.fetch('/auth/register/', init);
    while (this.families.length < LOGINS) {
      const reply = await service.fetch('/auth/login/', init);
      const { refresh } = (await reply.json()) as { refresh: string };
      this.families.push({ token: refresh, used: [] });
    }
  }

  async run(load: Load): Promise<void> {
    await Promise.all(this.families.map((family) => rotate(load, family)));
  }

  /** Number of rotations acknowledged since the last check. */
  get acknowledged(): number {
    return this.families.reduce((count, { used }) => count + used.length, 0);
  }

  /** @returns the number of rotations that were acknowledged since the last check */
  async verify(service: Service): Promise<number> {
    let count = 0;
    const lost: Family[] = [];
    for (const family of this.families) {
      count += family.used.length;
      for (const token of family.used.slice(-5)) await expectStatus(service, token, 401);
      const { sid, jti } = claimsOf(family.token);
      const row = await this.read(sid);
      if (row?.refresh_jti === jti) {
        await expectStatus(service, family.token, 200);
      } else if (row?.previous_jti === jti) {
        await expectStatus(service, family.token, 401);
        lost.push(family);
      } else {
        throw new Error(`The token ${jti} is not valid and has no successor: ${JSON.stringify(row)}`);
      }
      family.used = [];
    }
    this.families = this.families.filter((family) => !lost.includes(family));
    await this.start(service);
    return count;
  }

  private async read(sid: string): Promise<Row | undefined> {
    const { DATABASE_URL: url, DATA_DIR: folder } = this.environment;
    const sql = 'SELECT refresh_jti, previous_jti FROM sessions WHERE id =';
    if (url === undefined) {
      const database = new Database(join(folder!, 'database.sqlite'), { readonly: true });
      const row = database.prepare<[string], Row>(`${sql} ?`).get(sid);
      database.close();
      return row;
    }
    const client = new Client(url);
    await client.connect();
    const { rows } = await client.query<Row>(`${sql} $1`, [sid]);
    await client.end();
    return rows[0];
  }
}

async function rotate(load: Load, family: Family): Promise<void> {
  for (;;) {
    const received = await send(load, 200, '/auth/refresh/', json({ refresh: family.token }));
    if (received === 'killed') return;
    family.used.push(family.token);
    family.token = JSON.parse(received).refresh;
  }
}

async function expectStatus(service: Service, token: string, status: number): Promise<void> {
  const reply = await service.fetch('/auth/verify/', json({ token }));
  if (reply.status !== status) throw new Error(`A token got ${reply.status}, not ${status}`);
}

const json = (body: unknown): RequestInit => ({
  method: 'POST',
  headers: { 'content-type': 'application/json' },
  body: JSON.stringify(body),
});

const claimsOf = (token: string): { sid: string; jti: string } =>
  JSON.parse(Buffer.from(token.split('.')[1]!, 'base64url').toString());
