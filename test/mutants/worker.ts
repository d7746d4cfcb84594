/**
 * Runs test files with one fault after the other, in the process that has loaded the application. `run.ts` starts it in a
 * copy of the project that has the faults, and gets a message for each result.
 */
import { runCLI } from 'jest';
import { PROJECT, RUN } from '../../jest.config.ts';
import setUp, { tearDown } from '../jest/global-setup.ts';

export interface Job {
  /** The number of the fault; none is planted without it. */
  readonly fault?: number;
  readonly files: readonly string[];
  /** Runs only the tests on this database, and those on neither. */
  readonly store?: 'SQLite' | 'PostgreSQL' | undefined;
}

export interface Outcome {
  readonly job: Job;
  /** The first file with a failure. */
  readonly failed: string | undefined;
  /** The faults whose places the files have reached. */
  readonly reached: readonly number[];
  readonly seconds: number;
}

const { globalSetup: _, globalTeardown: __, ...project } = PROJECT;
const config = {
  ...project,
  testTimeout: 20_000,
  waitForUnhandledRejections: RUN.waitForUnhandledRejections,
  testEnvironment: '<rootDir>/test/mutants/environment.ts',
  transformIgnorePatterns: [...project.transformIgnorePatterns, '<rootDir>/test/mutants/'],
  testMatch: ['<rootDir>/{src,test}/**/*.{spec,e2e-spec}.ts'],
};
const reached = new Set<number>();
// Also while the application is loaded.
let planted = process.env['MUTANT'] === undefined ? undefined : Number(process.env['MUTANT']);
Object.assign(globalThis, { isPlanted: (n: number) => reached.add(n) && n === planted });

const watch = { watch: false, watchAll: false } as Parameters<typeof tearDown>[0];
// Builds the project, not the copy: processes that tests start have no faults.
await setUp({ collectCoverage: false } as Parameters<typeof setUp>[0]);
process.chdir(PROJECT.rootDir);
process.on('message', (jobs: readonly Job[]) => void run(jobs));
process.once('disconnect', () => process.exit(1));
process.send!('ready');

async function run(jobs: readonly Job[]): Promise<void> {
  let noticing: string | undefined;
  for (const job of jobs) noticing = (await tryOne(job)) ?? noticing;
  // In a process that a fault has spoiled, the file fails without one, too.
  if (noticing !== undefined && planted !== undefined) await tryOne({ files: [noticing] });
  await tearDown(watch);
  process.exit(0);
}

/** @returns the file that notices the fault */
async function tryOne(job: Job): Promise<string | undefined> {
  planted = job.fault;
  reached.clear();
  const start = performance.now();
  let failed: string | undefined;
  for (const file of job.files) {
    process.send!({ file });
    if (await passes(file, job.store)) continue;
    failed = file;
    break;
  }
  const seconds = (performance.now() - start) / 1000;
  process.send!({ job, failed, reached: [...reached], seconds } satisfies Outcome);
  return failed;
}

/** Whether all tests of a file pass. */
async function passes(file: string, store: Job['store']): Promise<boolean> {
  const other = store && { SQLite: 'PostgreSQL', PostgreSQL: 'SQLite' }[store];
  const argv = {
    _: [file],
    $0: 'jest',
    config: JSON.stringify(config),
    runInBand: true,
    runTestsByPath: true,
    reporters: [],
    silent: true,
    ...(other && { testNamePattern: `^(?!.*${other})` }),
  };
  const { results } = await runCLI(argv, ['.']);
  return results.success;
}
