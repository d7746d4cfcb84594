import type { Reporter, TestModule } from 'vitest/node';

const COUNT = 10;

/** Lists the slowest test files at the end of a run, with the seconds of their tests and hooks. */
export default class SlowestFiles implements Reporter {
  onTestRunEnd(files: readonly TestModule[]): void {
    if (files.length < COUNT) return;
    const slowest = files
      .map((file) => ({ name: file.relativeModuleId, seconds: file.diagnostic().duration / 1000 }))
      .toSorted((a, b) => b.seconds - a.seconds)
      .slice(0, COUNT);
    console.log('\nSlowest files:');
    for (const { name, seconds } of slowest) console.log(`${seconds.toFixed(1).padStart(7)} s  ${name}`);
  }
}
