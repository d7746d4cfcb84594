import { readdirSync, readFileSync } from 'node:fs';
import { afterAll, describe, expect, it } from '@jest/globals';
import { Deployment } from 'kubernetes-models/apps/v1';
import { HorizontalPodAutoscaler } from 'kubernetes-models/autoscaling/v2';
import { Job } from 'kubernetes-models/batch/v1';
import { Ingress } from 'kubernetes-models/networking.k8s.io/v1';
import { PodDisruptionBudget } from 'kubernetes-models/policy/v1';
import { ConfigMap, Service as KubernetesService } from 'kubernetes-models/v1';
import { parseAllDocuments } from 'yaml';
import { loadConfig } from '../src/config/load-config.js';
import { Service } from './support/service.js';
import { createStore, type TestStore } from './support/stores.js';

const KINDS = {
  ConfigMap,
  Deployment,
  HorizontalPodAutoscaler,
  Ingress,
  Job,
  PodDisruptionBudget,
  Service: KubernetesService,
};

const FOLDER = 'deploy/kubernetes';
const manifests: any[] = readdirSync(FOLDER).flatMap((file) =>
  parseAllDocuments(readFileSync(`${FOLDER}/${file}`, 'utf8')).map((document) => document.toJS()),
);
const find = (kind: string) => manifests.find((manifest) => manifest.kind === kind);

describe('The compose file', () => {
  it('passes on every setting of .env, except those that it sets itself', () => {
    const [{ services }] = parseAllDocuments(readFileSync('compose.yaml', 'utf8')).map((text) => text.toJS());

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

describe('TRUST_PROXY', () => {
  it('is shown beside the proxy, where the proxy reaches the service', () => {
    const [{ services }] = parseAllDocuments(readFileSync('compose.yaml', 'utf8')).map((text) => text.toJS());
    const [, inCompose] = /^\$\{TRUST_PROXY:-(.*)\}$/.exec(services.api.environment.TRUST_PROXY)!;
    const inKubernetes = find('ConfigMap').data.TRUST_PROXY;

    for (const TRUST_PROXY of [inCompose!, inKubernetes]) {
      expect(loadConfig({ JWT_SECRET: 'aa'.repeat(16), TRUST_PROXY }).trustedProxies.length).toBeGreaterThan(
        0,
      );
    }
    const { backend } = find('Ingress').spec.rules[0].http.paths[0];
    expect(backend.service.name).toBe(find('Service').metadata.name);
    expect(backend.service.port.name).toBe(find('Service').spec.ports[0].name);
  });
});

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
    expect(find('Job').spec.template.metadata.labels).not.toEqual(labels);
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
    expect((maxReplicas + 1) * (Number(pool) + 5)).toBeLessThanOrEqual(97);
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
});
