import type { Pool } from 'pg';
import { PostgresQueryRunner } from 'typeorm/driver/postgres/PostgresQueryRunner.js';

type Driver = ConstructorParameters<typeof PostgresQueryRunner>[0];

/** TypeORM's runner, with a connection of another pool than the driver's. */
export function replicaRunner(driver: Driver, pool: Pool): PostgresQueryRunner {
  const connecting = async () => {
    const client = await pool.connect();
    return [client, client.release.bind(client)];
  };
  const redirected = Object.create(driver, { obtainMasterConnection: { value: connecting } }) as Driver;
  return new PostgresQueryRunner(redirected, 'slave');
}
