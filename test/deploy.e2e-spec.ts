import { globSync, readFileSync } from 'node:fs';
import { afterAll, describe, expect, it } from '@jest/globals';
import { ServiceMonitor } from '@kubernetes-models/prometheus-operator/monitoring.coreos.com/v1/ServiceMonitor';
import { Deployment } from 'kubernetes-models/apps/v1';
import { HorizontalPodAutoscaler } from 'kubernetes-models/autoscaling/v2';
import { CronJob, Job } from 'kubernetes-models/batch/v1';
import { Ingress, NetworkPolicy } from 'kubernetes-models/networking.k8s.io/v1';
import { PodDisruptionBudget } from 'kubernetes-models/policy/v1';
import { ConfigMap, PersistentVolumeClaim, Service as KubernetesService } from 'kubernetes-models/v1';
import { parseAllDocuments } from 'yaml';
import { loadConfig } from '../src/platform/config/load-config.js';
import { FURTHER_CONNECTIONS } from '../src/platform/database/postgres/pools.js';
import { Service } from './support/service.js';
import { ANY_DATABASE, createStore, type TestStore } from './support/stores.js';

const KINDS = {
  ConfigMap,
  CronJob,
  Deployment,
  HorizontalPodAutoscaler,
  Ingress,
  Job,
  NetworkPolicy,
  PersistentVolumeClaim,
  PodDisruptionBudget,
  Service: KubernetesService,
  ServiceMonitor,
};

const documentsIn = (file: string): any[] =>
  parseAllDocuments(readFileSync(file, 'utf8')).map((document) => document.toJS());
/** For an operator whose schema no package has. */
const DATABASE = 'deploy/kubernetes/database/cluster.yaml';
const manifests = globSync('deploy/kubernetes/**/*.yaml')
  .filter((file) => file !== DATABASE)
  .flatMap(documentsIn);
const find = (kind: string, name = 'posts-api') =>
  manifests.find(({ kind: each, metadata }) => each === kind && metadata.name.startsWith(name));

const { version } = JSON.parse(readFileSync('package.json', 'utf8'));

/** The descriptions of pods, with the name of their owner. */
const pods: [name: string, spec: any][] = manifests.flatMap(({ kind, metadata, spec }) => {
  const template = kind === 'CronJob' ? spec.jobTemplate.spec.template : spec?.template;
  return template ? [[metadata.name as string, template.spec] as [string, any]] : [];
});
const containersOf = (pod: any): any[] => [...(pod.initContainers ?? []), ...pod.containers];

describe('The compose file', () => {
  it('passes on every setting of .env, except those that it sets itself', () => {
    const [{ services }] = documentsIn('compose.yaml');

    expect(services.api.env_file).toBe('.env');
    expect(Object.keys(services.api.environment)).toEqual([
      'HOST',
      'PORT',
      'DATABASE_URL',
      'JWT_SECRET',
      'TRUST_PROXY',
    ]);
    expect(services.api.ports).toEqual([`127.0.0.1:\${PORT:-3000}:${services.api.environment.PORT}`]);
  });
});

describe('Images', () => {
  const used = [
    ...pods.flatMap(([, pod]) => containersOf(pod).map(({ image }) => image)),
    documentsIn('compose.yaml')[0].services.database.image,
    ...[...readFileSync('Dockerfile', 'utf8').matchAll(/^FROM (\S+)/gm)].map(([, image]) => image),
  ];

  it('have a version that does not move', () => {
    expect(used.length).toBeGreaterThan(6);
    for (const image of used)
      expect(image).toMatch(/^(posts-api:\d+\.\d+\.\d+|postgres:\d+\.\d+|node:\d+\.\d+\.\d+-slim)$/);
    expect(new Set(used.filter((image) => image.startsWith('posts-api')))).toEqual(
      new Set([`posts-api:${version}`]),
    );
    expect(new Set(used.filter((image) => image.startsWith('postgres'))).size).toBe(1);
  });

  it.each(pods)('have few rights in the pods of %s', (_, pod) => {
    expect(pod).toMatchObject({
      automountServiceAccountToken: false,
      securityContext: { runAsNonRoot: true },
    });
    for (const { securityContext } of containersOf(pod)) {
      expect(securityContext).toEqual({
        allowPrivilegeEscalation: false,
        readOnlyRootFilesystem: true,
        capabilities: { drop: ['ALL'] },
      });
    }
  });

  it('have few rights in the compose file', () => {
    for (const service of Object.values<any>(documentsIn('compose.yaml')[0].services)) {
      expect(service).toMatchObject({ cap_drop: ['ALL'], security_opt: ['no-new-privileges:true'] });
    }
  });
});

describe('TRUST_PROXY', () => {
  it('is shown beside the proxy, where the proxy reaches the service', () => {
    const [{ services }] = documentsIn('compose.yaml');
    const [, inCompose] = /^\$\{TRUST_PROXY:-(.*)\}$/.exec(services.api.environment.TRUST_PROXY)!;
    const inKubernetes = find('ConfigMap').data.TRUST_PROXY;

    for (const TRUST_PROXY of [inCompose!, inKubernetes]) {
      expect(
        loadConfig({ ...ANY_DATABASE, JWT_SECRET: 'aa'.repeat(16), TRUST_PROXY }).trustedProxies.length,
      ).toBeGreaterThan(0);
    }
    const { backend } = find('Ingress').spec.rules[0].http.paths[0];
    expect(backend.service.name).toBe(find('Service').metadata.name);
    expect(backend.service.port.name).toBe(find('Service').spec.ports[0].name);
  });
});

/** The templates of pods that are no replica. */
const jobs: [name: string, template: any][] = manifests
  .filter(({ kind }) => kind === 'Job' || kind === 'CronJob')
  .map(({ metadata, spec }) => [metadata.name, (spec.jobTemplate?.spec ?? spec).template]);

describe('The Kubernetes manifests', () => {
  let store: TestStore | undefined;
  afterAll(() => store?.remove());

  it.each(manifests.map((manifest) => [manifest.kind as keyof typeof KINDS, manifest] as const))(
    'have a %s that fits the schema of Kubernetes',
    (kind, manifest) => {
      expect(() => new KINDS[kind](manifest).validate()).not.toThrow();
      expect(() => new KINDS[kind]({ ...manifest, metadata: { name: 5 } }).validate()).toThrow('name');
    },
  );

  it('select the pods of the deployment, and no others', () => {
    const { spec } = find('Deployment');
    const { labels } = spec.template.metadata;

    expect(spec.selector.matchLabels).toEqual(labels);
    expect(find('Service').spec.selector).toEqual(labels);
    expect(find('PodDisruptionBudget').spec.selector.matchLabels).toEqual(labels);
    for (const [, { metadata }] of jobs) expect(metadata.labels).not.toEqual(labels);
    expect(find('NetworkPolicy').spec.podSelector.matchLabels).toEqual(labels);
    const others = find('NetworkPolicy', 'posts-api-jobs').spec.podSelector.matchExpressions[0].values;
    const components = jobs.map(
      ([, { metadata }]) => metadata.labels['app.kubernetes.io/component'] as string,
    );
    expect(others.toSorted()).toEqual(components.toSorted());
    expect(find('Service').metadata.labels).toMatchObject(find('ServiceMonitor').spec.selector.matchLabels);
    expect(find('HorizontalPodAutoscaler').spec.scaleTargetRef).toEqual({
      apiVersion: 'apps/v1',
      kind: 'Deployment',
      name: find('Deployment').metadata.name,
    });
  });

  it('leave connections for all replicas on a PostgreSQL with the default of 100', () => {
    const { DATABASE_POOL_SIZE: pool = '10' } = find('ConfigMap').data;

    // Three connections are reserved for superusers; one more replica runs during a rollout.
    const { maxReplicas } = find('HorizontalPodAutoscaler').spec;
    expect((maxReplicas + 1) * (Number(pool) + FURTHER_CONNECTIONS)).toBeLessThanOrEqual(97);
  });

  it('name the same sizes as the guides', () => {
    const read = (file: string) => readFileSync(file, 'utf8');
    const words = ['four', 'five', 'six', 'seven'];
    const further = words[FURTHER_CONNECTIONS - 4];
    expect(read('docs/operations.md')).toContain(`\`DATABASE_POOL_SIZE\` plus ${further}:`);
    expect(read('deploy/kubernetes/availability.yaml')).toContain(
      `DATABASE_POOL_SIZE connections and ${further} more`,
    );
    expect(read('docs/scaling.md')).toContain(`Replicas × ${10 + FURTHER_CONNECTIONS} connections`);

    const { requests, limits } = find('Deployment').spec.template.spec.containers[0].resources;
    expect(read('docs/operations.md')).toContain(
      `reserve ${requests.memory}B, and set the limit to ${limits.memory}B`.replaceAll('Mi', ' Mi'),
    );
    expect(read('deploy/systemd/posts-api@.service')).toContain(
      `MemoryMax=${limits.memory.replace('Mi', 'M')}\n`,
    );
    expect(documentsIn('compose.yaml')[0].services.api.mem_limit).toBe(limits.memory.replace('Mi', 'm'));
    expect(read('deploy/monitoring/rules.yml')).toContain(
      `its limit in deploy/kubernetes is ${limits.memory.replace('Mi', ' MiB')}`,
    );
  });

  it('name the one address of the primary, and its database', () => {
    const [{ kind, metadata, spec }] = documentsIn(DATABASE);
    const comment = readFileSync('deploy/kubernetes/configuration.yaml', 'utf8');
    const [, address] = /DATABASE_URL='(.*?)'/.exec(comment)!;
    const { hostname, username, pathname } = new URL(address!);

    expect(kind).toBe('Cluster');
    // CloudNativePG gives this name to the service that leads to the primary.
    expect(hostname).toBe(`${metadata.name}-rw`);
    expect(spec.bootstrap.initdb).toMatchObject({ database: pathname.slice(1), owner: username });
    expect(spec.postgresql.synchronous.number).toBeGreaterThan(0);
    expect(spec.instances).toBeGreaterThan(spec.postgresql.synchronous.number + 1);
  });

  it('name ports that exist', () => {
    const named = find('Deployment').spec.template.spec.containers[0].ports.map(({ name }: any) => name);
    expect(find('Service').spec.ports.map(({ targetPort }: any) => targetPort)).toEqual(named);
    expect(named).toContain(find('ServiceMonitor').spec.endpoints[0].port);
    const admitted = find('NetworkPolicy').spec.ingress.flatMap(({ ports }: any) => ports);
    expect(admitted.map(({ port }: any) => port)).toEqual(named);
  });

  it('keep pods from private addresses, except the database, Redis, mail and names', () => {
    const [names, own, outside] = find('NetworkPolicy').spec.egress;
    expect(names.ports.map(({ port }: any) => port)).toEqual([53, 53]);
    expect(own.ports.map(({ port }: any) => port)).toEqual([5432, 6379, 587, 465]);
    expect(outside.ports).toEqual([{ port: 443 }]);
    const excluded = outside.to.flatMap(({ ipBlock }: any) => ipBlock.except);
    for (const network of ['10.0.0.0/8', '169.254.0.0/16', '172.16.0.0/12', '192.168.0.0/16', 'fc00::/7'])
      expect(excluded).toContain(network);
  });

  it('end TLS in the ingress, for the host of PUBLIC_URL', () => {
    const { tls, rules } = find('Ingress').spec;
    expect(tls[0].hosts).toEqual([rules[0].host]);
    expect(find('ConfigMap').data.PUBLIC_URL).toBe(`https://${rules[0].host}`);
  });

  it('give a pod enough time to stop', () => {
    const { DRAIN_DELAY_MS: delay } = find('ConfigMap').data;
    const { terminationGracePeriodSeconds: grace, containers } = find('Deployment').spec.template.spec;
    const { periodSeconds, failureThreshold } = containers[0].readinessProbe;

    expect(Number(delay)).toBeGreaterThan(periodSeconds * failureThreshold * 1000);
    expect(grace).toBeGreaterThan(10);
  });

  it('have settings that the service accepts, and probes that it serves', async () => {
    store = await createStore('PostgreSQL');
    const [container] = find('Deployment').spec.template.spec.containers;
    const settings = find('ConfigMap').data;
    const production = {
      NODE_ENV: 'production',
      WRITE_ACCESS: 'open',
      JWT_SECRET: 'as'.repeat(16),
      ...store.environment,
    };
    const service = await Service.start({ ...production, ...settings, MIGRATE: 'auto' });
    const statuses = await Promise.all(
      ['startupProbe', 'livenessProbe', 'readinessProbe'].map(
        async (probe) => (await service.fetch(container[probe].httpGet.path)).status,
      ),
    );
    await service.end('SIGKILL');

    expect(statuses).toEqual([200, 200, 200]);
  });

  it('start the service on the restored database in the drill, without mail and Redis', () => {
    const { spec } = jobs.find(([name]) => name === 'posts-api-restore-drill')![1];
    const container = spec.initContainers.find(({ name }: any) => name === 'service');
    const own = Object.fromEntries(container.env.map(({ name, value }: any) => [name, value]));
    const replaced = { SMTP_URL: 'smtp://mail.example.com', REDIS_URL: 'redis://redis' };
    const config = loadConfig({
      ...find('ConfigMap').data,
      ...replaced,
      NODE_ENV: 'production',
      JWT_SECRET: 'as'.repeat(16),
      ...own,
    });

    expect(config.store).toMatchObject({ kind: 'postgres', url: own.DATABASE_URL });
    expect(config).toMatchObject({ mail: { kind: 'none' }, redisUrl: undefined, migrateAtStart: true });
    expect(container.startupProbe.httpGet.path).toBe('/health/ready');
    expect(spec.initContainers.at(-1)).toBe(container);
  });
});
