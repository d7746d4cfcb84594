/**
 * Checks with Prometheus's own tool the response of `/metrics` on both databases, and the rules of
 * `deploy/monitoring`. Part of `npm run test:system`; skipped with a message where `promtool` is not installed.
 */
import { spawnSync } from 'node:child_process';
import { startPostgres } from '../support/postgres-server.ts';
import { Service } from '../support/service.ts';
import { createStore, STORES } from '../support/stores.ts';

let failed = false;

function promtool(what: string, parameters: readonly string[], input = ''): void {
  const { status, stdout, stderr } = spawnSync('promtool', parameters, { input, encoding: 'utf8' });
  console.log(`promtool ${what}: ${status === 0 ? 'passed' : 'failed'}`);
  if (status === 0) return;
  failed = true;
  console.log(stdout + stderr);
}

if (spawnSync('promtool', ['--version']).status !== 0) {
  console.log(
    'SKIPPED: the checks of promtool, because it is not installed here (Debian package: prometheus)',
  );
  process.exit(0);
}

promtool('check rules', ['check', 'rules', 'deploy/monitoring/rules.yml']);
promtool('test rules', ['test', 'rules', 'deploy/monitoring/rules.test.yml']);

const postgres = await startPostgres();
process.env['TEST_DATABASE_URL'] = postgres.url;
try {
  for (const name of STORES) {
    const store = await createStore(name);
    const service = await Service.withFixture({ ...store.environment, METRICS_PORT: '0' });
    await service.create();
    const url = /Metrics on (http:[^"\s]+)/.exec(service.output)![1]!;
    promtool(`check metrics on ${name}`, ['check', 'metrics'], await (await fetch(url)).text());
    await service.end();
    await store.remove();
  }
} finally {
  await postgres.stop();
}
process.exit(failed ? 1 : 0);
