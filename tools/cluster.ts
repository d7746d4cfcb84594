/**
 * `npm run cluster`: three replicas of the service behind HAProxy, on two nodes of PostgreSQL under Patroni, with the
 * files of deploy/cluster.
 */
import { parseCommandLine, rejectUsage } from '../src/commands/support/command-line.ts';
import { Cluster } from './cluster/cluster.ts';
import { MISSING_PARTS } from './cluster/parts.ts';

parseCommandLine(`Usage: npm run cluster

Starts etcd, two nodes of PostgreSQL under Patroni, HAProxy, PgBouncer and three replicas of the service on this machine,
with the files of deploy/cluster, and stops them at Ctrl-C. All of their data and logs are in one temporary folder, which
is then removed. The replicas have the settings of the environment and of .env, except their database, secret and ports.`);
if (MISSING_PARTS.length > 0)
  rejectUsage(
    `Not installed: ${MISSING_PARTS.join(', ')}. On Debian: apt-get install ${MISSING_PARTS.join(' ')}`,
  );

/** Settings that the cluster decides, and a port that three replicas cannot share. */
const OWN = /^(DATABASE_URL|JWT_SECRET)(_FILE)?$|^(METRICS_PORT|MIGRATE)$/;

const ended = new Promise<void>((resolve) => {
  for (const signal of ['SIGHUP', 'SIGINT', 'SIGTERM'] as const) process.on(signal, () => resolve());
});
const cluster = await Cluster.prepare(console.log);
try {
  const environment = Object.fromEntries(Object.entries(process.env).filter(([name]) => !OWN.test(name)));
  const started = cluster.start({ parameters: ['dist/main.js'], environment }).then(() => true);
  if (await Promise.race([started, ended])) {
    console.log(describe(cluster));
    await ended;
  }
  console.log('Stopping');
} finally {
  await cluster.stop();
}
process.exit();

function describe({ api, databaseUrl, writerUrl, nodes, folder }: Cluster): string {
  return `
The API              ${api}
Through PgBouncer    ${databaseUrl}
The primary          ${writerUrl}
${nodes.map(({ name, rest }) => `Patroni of ${name}     http://127.0.0.1:${rest}/cluster`).join('\n')}
Data and logs        ${folder}
Ctrl-C stops all of it.`;
}
