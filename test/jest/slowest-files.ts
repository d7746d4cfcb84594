import { relative } from 'node:path';
import type { AggregatedResult, Reporter, TestContext } from '@jest/reporters';

const COUNT = 10;

/** Lists the slowest test files at the end of a run, with the seconds of their tests and hooks. */
export default class SlowestFiles implements Pick<Reporter, 'onRunComplete'> {
  onRunComplete(_: Set<TestContext>, { testResults }: AggregatedResult): void {
    if (testResults.length < COUNT) return;
    const slowest = testResults
      .map(({ testFilePath, perfStats }) => ({
        name: relative('.', testFilePath),
        seconds: perfStats.runtime / 1000,
      }))
      .toSorted((a, b) => b.seconds - a.seconds)
      .slice(0, COUNT);
    console.log('\nSlowest files:');
    for (const { name, seconds } of slowest) console.log(`${seconds.toFixed(1).padStart(7)} s  ${name}`);
  }
}
