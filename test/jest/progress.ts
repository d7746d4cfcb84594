import { relative } from 'node:path';
import type { AggregatedResult, Reporter, Test, TestContext } from '@jest/reporters';

/** How many of the slowest files are listed. */
const COUNT = 10;

/** After how long without a finished file the running ones are named, in milliseconds. */
const QUIET = 60_000;

type Events = 'onTestFileStart' | 'onTestFileResult' | 'onRunComplete';

/** Names the files that take long while they run, and the slowest ones at the end with the seconds of their tests and hooks. */
export default class Progress implements Pick<Reporter, Events> {
  private readonly running = new Set<string>();
  private timer: NodeJS.Timeout | undefined;

  onTestFileStart({ path }: Test): void {
    this.running.add(relative('.', path));
    this.timer ??= setInterval(() => console.log(`Still running: ${[...this.running].join(', ')}`), QUIET);
  }

  onTestFileResult({ path }: Test): void {
    this.running.delete(relative('.', path));
    this.timer?.refresh();
  }

  onRunComplete(_: Set<TestContext>, { testResults }: AggregatedResult): void {
    clearInterval(this.timer);
    this.timer = undefined;
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
