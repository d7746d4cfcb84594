/**
 * The files of `deploy/systemd` and `deploy/caddy`: checked by the tools of systemd and Caddy; then Caddy runs in front of
 * two processes of the service, with HTTP in place of a certificate. Part of `npm run test:system`; skipped with a
 * message where a program is not installed.
 */
import { spawn, spawnSync } from 'node:child_process';
import { globSync } from 'node:fs';
import { checkStream } from '../support/events-through-proxy.ts';
import { freePort } from '../support/free-port.ts';
import { startPostgres } from '../support/postgres-server.ts';
import { Service } from '../support/service.ts';
import { createStore } from '../support/stores.ts';
import { until } from '../support/until.ts';

const CADDYFILE = ['--adapter', 'caddyfile', '--config', 'deploy/caddy/Caddyfile'];
const faults: string[] = [];

/** Runs a check. @returns whether its program is installed */
function check(
  command: string,
  parameters: readonly string[],
  environment: Record<string, string> = {},
): boolean {
  const env = { ...process.env, ...environment };
  const { status, error, stdout, stderr } = spawnSync(command, parameters, { encoding: 'utf8', env });
  if (error) {
    console.log(`SKIPPED: ${command}, because it is not installed here`);
    return false;
  }
  console.log(`${command} ${parameters[0]}: ${status === 0 ? 'passed' : 'failed'}`);
  if (status !== 0) faults.push(`${command} ${parameters.join(' ')}:\n${stdout}${stderr}`);
  return true;
}

const units = globSync('deploy/systemd/*').toSorted();
if (check('systemd-analyze', ['verify', ...units])) {
  const service = units.find((unit) => unit.includes('@'))!;
  // In tenths: the score is 0 for the least exposure, and 10 for the most.
  check('systemd-analyze', ['security', '--offline=true', '--threshold=20', service]);
}
const example = { SITE: 'api.example.com', UPSTREAMS: '127.0.0.1:3000 127.0.0.1:3001' };
if (check('caddy', ['validate', ...CADDYFILE], example)) await runBehindCaddy();

for (const fault of faults) console.log(`  Failed: ${fault}`);
process.exit(faults.length > 0 ? 1 : 0);

async function runBehindCaddy(): Promise<void> {
  const postgres = await startPostgres();
  process.env['TEST_DATABASE_URL'] = postgres.url;
  const store = await createStore('PostgreSQL');
  const start = async () =>
    Service.withFixture({
      ...store.environment,
      PORT: String(await freePort()),
      TRUST_PROXY: '127.0.0.1',
      DRAIN_DELAY_MS: '2500',
      JWT_SECRET: 'a secret that all of the instances share',
    });
  const services = [await start(), await start()];
  const site = `http://127.0.0.1:${await freePort()}`;
  const upstreams = services.map(({ url }) => new URL(url).host).join(' ');
  const caddy = spawn('caddy', ['run', ...CADDYFILE], {
    env: { ...process.env, SITE: site, UPSTREAMS: upstreams },
    stdio: 'ignore',
  });
  try {
    await until('Caddy responds', async () => (await statusOf(`${site}/health/ready`)) === 200);
    await checkAddress(site, services);
    await checkStream(site);
    await checkRestart(site, services);
  } finally {
    caddy.kill('SIGKILL');
    await Promise.all(services.map((service) => service.end()));
    await store.remove();
    await postgres.stop();
  }
}

async function statusOf(url: string): Promise<number | undefined> {
  return (await fetch(url).catch(() => undefined))?.status;
}

/** The service sees the address that the proxy has seen, whatever the client claims. */
async function checkAddress(site: string, services: readonly Service[]): Promise<void> {
  await fetch(`${site}/v1/dummies/1`, { headers: { 'x-forwarded-for': '203.0.113.9' } });
  const lines = () => services.flatMap(({ log }) => log).filter(({ path }) => path === '/v1/dummies/1');
  await until('the request is logged', () => lines().length > 0);
  if (lines()[0]!['address'] !== '127.0.0.1') faults.push('A client can choose its address');
}

/** No request fails while one of the instances stops. */
async function checkRestart(site: string, services: readonly Service[]): Promise<void> {
  const statuses: (number | undefined)[] = [];
  const over = new AbortController();
  const client = (async () => {
    while (!over.signal.aborted) statuses.push(await statusOf(`${site}/v1/dummies`));
  })();
  const { code } = await services[0]!.end('SIGTERM');
  over.abort();
  await client;
  if (code !== 0) faults.push(`The stopped instance ended with ${code}`);
  const failed = statuses.filter((status) => status !== 200);
  if (failed.length > 0)
    faults.push(`${failed.length} of ${statuses.length} requests failed during a restart`);
  console.log(`caddy: ${statuses.length} requests during a restart, ${failed.length} failed`);
}
