import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { parse } from 'yaml';
import { MetricsServer } from '../src/platform/operations/metrics-server.js';
import { startApi, type TestApi } from './support/api.js';
import { ANY_STORE } from './support/stores.js';

const read = (name: string) => readFileSync(`deploy/monitoring/${name}`, 'utf8');

interface Alert {
  readonly alert: string;
  readonly expr: string;
  readonly annotations: { readonly runbook: string };
}

const alerts: Alert[] = parse(read('rules.yml')).groups.flatMap(({ rules }: { rules: Alert[] }) => rules);
const dashboard = JSON.parse(read('dashboard.json'));
const panels: { title: string; targets?: { expr: string }[] }[] = dashboard.panels;

/** The words of a PromQL expression that are metric names, without labels and functions. */
const metricsIn = (expression: string): string[] =>
  expression
    .replaceAll(/\{[^}]*\}|\[[^\]]*\]|\b(?:by|on|group_left) \([^)]*\)/g, ' ')
    .match(/\b[a-z]\w*\b(?!\s*\()/g)!
    .filter((word) => !/^e\d/.test(word));

describe('deploy/monitoring', () => {
  let api: TestApi;
  const known = new Set(['up']);
  beforeAll(async () => {
    api = await startApi(ANY_STORE, { METRICS_PORT: '0' });
    const text = await (await fetch(api.app.get(MetricsServer).url!)).text();
    for (const [, name = '', type] of text.matchAll(/^# TYPE (\w+) (\w+)$/gm)) {
      known.add(name);
      if (type === 'histogram')
        for (const suffix of ['bucket', 'count', 'sum']) known.add(`${name}_${suffix}`);
    }
  });
  afterAll(() => api.stop());

  it.each(alerts.map(({ alert, expr }) => [alert, expr]))(
    'has an alert %s on existing metrics',
    (_, expr) => {
      expect(metricsIn(expr)).not.toEqual([]);
      for (const name of metricsIn(expr)) expect(known).toContain(name);
    },
  );

  it.each(panels.flatMap(({ title, targets = [] }) => targets.map(({ expr }) => [title, expr] as const)))(
    'has a panel "%s" on existing metrics: %s',
    (_, expr) => {
      expect(metricsIn(expr)).not.toEqual([]);
      for (const name of metricsIn(expr)) expect(known).toContain(name);
    },
  );

  it('excludes streams from every latency, because they last until they are closed', () => {
    const expressions = [
      ...alerts.map(({ expr }) => expr),
      ...panels.flatMap(({ targets = [] }) => targets.map(({ expr }) => expr)),
    ];
    const selectors = expressions.flatMap(
      (expr) => expr.match(/http_server_request_duration_seconds_bucket(\{[^}]*\})?/g) ?? [],
    );

    expect(selectors).not.toEqual([]);
    for (const selector of selectors) expect(selector).toContain('http_route!~".*/stream"');
  });

  it('tests every alert', () => {
    const tested = parse(read('rules.test.yml')).tests.map(({ name }: { name: string }) => name);

    expect(tested.toSorted()).toEqual(alerts.map(({ alert }) => alert).toSorted());
  });

  it('links every alert to its instructions', () => {
    const guide = readFileSync('docs/operations.md', 'utf8');

    for (const { alert, annotations } of alerts) {
      expect(guide).toContain(`\n### ${alert}\n`);
      expect(annotations.runbook).toBe(`docs/operations.md#${alert.toLowerCase()}`);
    }
  });
});
