/**
 * `npm run test:mutants`: plants the faults of test/faults.json in a copy of the project, all of them at once and each
 * behind a flag, and runs the test file that notices each. For a fault without one, or whose test passes, it runs the
 * test files that reach its place until one fails, and writes its name into test/faults.json.
 */
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { globSync, symlinkSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { parseCommandLine } from '../../src/commands/support/command-line.ts';
import { CopyOfProject } from '../support/copy-of-project.ts';
import { filesWith, readFaults, readSources, writeFaults } from './faults.ts';
import { type Place, placeOf, plant } from './plant.ts';
import { isNamedAfter, type Reach, readReached, testsOf, writeReached } from './reached.ts';
import type { Job, Outcome } from './worker.ts';

/** How many faults a process tries: one that leaves something behind spoils the others at most. */
const BATCH = 8;
/**
 * How many test files are tried for a fault: those with a word of its source file in their name, those most about it for
 * their time, and those most about it.
 */
const NAMED = 6;
const QUICK = 5;
const THOROUGH = 3;
/** Processes that try faults side by side, because tests often wait; more of them make tests fail on two cores. */
const WORKERS = [0, 1, 2];
/** What only the build runs: tests of these start commands, or use databases that one has migrated. */
const BUILT = /^src\/(commands|platform\/database\/migrations)\//;
/** After how long a fault counts as noticed, because a test file does not end, in milliseconds. */
const HANGS = 180_000;

const { values } = parseCommandLine(
  `Usage: npm run test:mutants [-- --only TEXT --new | --record]

  --only    only faults whose promise contains this, such as '§5 '
  --new     only faults that name no test yet
  --record  only records which sources each test file reaches, for npm run test:near (10 minutes)`,
  {
    options: {
      only: { type: 'string', default: '' },
      new: { type: 'boolean', default: false },
      record: { type: 'boolean', default: false },
    },
  },
);
const sources = readSources();
const faults = readFaults();
const places = faults.map((fault, number) => {
  const [file] = filesWith(fault, sources);
  return { file: file!, ...placeOf(sources.get(file!)!, fault, number) };
});
const copy = CopyOfProject.untilExit();
symlinkSync(resolve('dist'), join(copy.folder, 'dist'));
for (const [file, own] of Map.groupBy(places, (place) => place.file))
  copy.write(file, plant(sources.get(file)!, own));

if (values.record) {
  await recordReached();
  process.exit(0);
}

const asked = places.filter(({ number }) => {
  const { breaks, noticedBy, equivalent } = faults[number]!;
  return breaks.includes(values.only) && !equivalent && !(values.new && noticedBy !== undefined);
});
const caught = new Set<number>();
const { built = [], loaded = [] } = Object.groupBy(asked, ({ file, number }) =>
  BUILT.test(file) || faults[number]!.noticedBy?.endsWith('.system-spec.ts') ? 'built' : 'loaded',
);
await tryInBuild(built);
const named = loaded.filter(({ number }) => faults[number]!.noticedBy !== undefined);
await tryAll(named, ({ number }) => [faults[number]!.noticedBy!]);
// The test may start processes, which have the fault only in a build.
await tryInBuild(named.filter(({ number }) => !caught.has(number)));
const open = loaded.filter(({ number }) => !caught.has(number));
if (open.length > 0) {
  console.log(`${open.length} faults are not noticed by a test that they name; other tests are tried`);
  const reaching = await findTests();
  for (const store of ['SQLite', 'PostgreSQL'] as const) {
    await tryAll(
      open.filter(({ number }) => !caught.has(number)),
      reaching,
      store,
    );
  }
}
const survivors = asked.filter(({ number }) => !caught.has(number));
for (const { file, number } of survivors)
  console.log(`${faults[number]!.breaks}\n  ${file}: ${faults[number]!.text}`);
console.log(`${asked.length} faults: ${caught.size} noticed, ${survivors.length} not`);
process.exit(survivors.length > 0 ? 1 : 0);

interface Located extends Place {
  readonly file: string;
}

/** Tries faults one after the other in a copy that is built with each, by the test files that they name. */
async function tryInBuild(asking: readonly Located[]): Promise<void> {
  if (asking.length === 0) return;
  const own = CopyOfProject.untilExit();
  for (const [n, { file, number }] of asking.entries()) {
    const { text, becomes, noticedBy } = faults[number]!;
    if (noticedBy === undefined) continue;
    own.write(
      file,
      sources.get(file)!.replace(text, () => becomes),
    );
    const config = noticedBy.endsWith('.system-spec.ts') ? ['--config', 'test/system/jest.config.ts'] : [];
    const { code, output } = await own.run('npx', 'jest', ...config, noticedBy);
    own.write(file, sources.get(file)!);
    // A build that fails notices nothing.
    if (code !== 0 && /^Tests: /m.test(output)) notice(number, noticedBy);
    progress('faults of the build', n + 1, asking.length);
  }
}

/** Tries faults, several processes side by side. What is decided when modules are loaded needs a process of its own. */
async function tryAll(
  asking: readonly Located[],
  testFilesOf: (place: Located) => string[],
  store?: Job['store'],
): Promise<void> {
  const queue = [...asking];
  /** Tried in a process that was spoiled, or whose place was not reached after its module was loaded. */
  const alone = new Set<number>();
  let done = 0;
  const take = (): Located[] => {
    const own = queue.slice(0, BATCH).findIndex(({ isStatic, number }) => isStatic || alone.has(number));
    return queue.splice(0, own === -1 ? BATCH : own || 1);
  };
  await Promise.all(
    WORKERS.map(async () => {
      for (let batch = take(); batch.length > 0; batch = take()) {
        const again = await tryBatch(batch, testFilesOf, store);
        for (const { number } of again.alone) alone.add(number);
        queue.unshift(...again.alone, ...again.rest);
        done += batch.length - again.alone.length - again.rest.length;
        progress('faults', done, asking.length);
      }
    }),
  );
}

/** @returns what needs a process of its own, and what follows a fault that did not end */
async function tryBatch(
  batch: readonly Located[],
  testFilesOf: (place: Located) => string[],
  store: Job['store'],
): Promise<{ alone: Located[]; rest: Located[] }> {
  const jobs = batch.map((place) => ({ fault: place.number, files: testFilesOf(place), store }));
  const tried: number[] = [];
  const alone: Located[] = [];
  const isAlone = batch.length === 1;
  const last = await work(jobs, ({ job, failed, reached }) => {
    const place = batch[tried.length];
    if (job.fault === undefined) {
      // The last file fails without a fault, too: it does not show which of them it has noticed.
      if (failed !== undefined && !isAlone) {
        alone.push(...batch.filter(({ number }) => caught.has(number)));
        for (const { number } of batch) caught.delete(number);
      }
      return;
    }
    tried.push(job.fault);
    if (failed !== undefined) notice(job.fault, failed);
    else if (!isAlone && !reached.includes(job.fault)) alone.push(place!);
    else console.log(`Not noticed by ${job.files.join(', ')}: ${faults[job.fault]!.breaks}`);
  });
  const hanging = batch[tried.length];
  if (hanging && last !== undefined) notice(hanging.number, last);
  return { alone, rest: batch.slice(tried.length + 1) };
}

function notice(number: number, file: string): void {
  caught.add(number);
  faults[number]!.noticedBy = file;
  // A run that is stopped keeps what it has found.
  writeFaults(faults);
}

/** @returns the test files that try a fault */
async function findTests(): Promise<(place: Located) => string[]> {
  const reached = readReached() ?? (await recordReached());
  return ({ file }) => {
    const able = testsOf(file, reached);
    const chosen = [
      ...able.filter((test) => isNamedAfter(test.file, file)).slice(0, NAMED),
      ...able.slice(0, QUICK),
      ...able.toSorted((a, b) => a.sources.length - b.sources.length).slice(0, THOROUGH),
    ];
    return [...new Set(chosen.map((each) => each.file))];
  };
}

/** Runs all tests without a fault. */
async function recordReached(): Promise<readonly Reach[]> {
  const files = globSync('{src,test}/**/*.{spec,e2e-spec}.ts', {
    exclude: ['test/{extra,recipes,system,mutants}/**', 'test/jest/**'],
  });
  const outcomes: Outcome[] = [];
  const jobs = files.map((file) => ({ files: [file], store: 'SQLite' as const }));
  await Promise.all(
    WORKERS.map((n) =>
      work(
        jobs.filter((_, index) => index % WORKERS.length === n),
        (outcome) => progress('test files', outcomes.push(outcome), files.length),
      ),
    ),
  );
  const usable = outcomes.filter(({ failed }) => failed === undefined);
  const names = new Set(usable.map(({ job }) => job.files[0]!));
  const broken = files.filter((file) => !names.has(file));
  if (broken.length > 0) console.log(`Left out, because they fail without a fault: ${broken.join(', ')}`);
  const record = usable.map(({ job, seconds, reached }) => ({
    file: job.files[0]!,
    seconds,
    sources: [...new Set(reached.map((number) => places[number]!.file))],
  }));
  writeReached(record);
  return record;
}

/** Runs jobs in a process of their own, until the first that does not end. @returns the last file that it ran */
async function work(
  jobs: readonly Job[],
  onOutcome: (outcome: Outcome) => void,
): Promise<string | undefined> {
  if (jobs.length === 0) return undefined;
  const [first] = jobs;
  const worker: ChildProcess = fork(join(copy.folder, 'test/mutants/worker.ts'), {
    execArgv: ['--no-warnings'],
    env: {
      ...process.env,
      ...(jobs.length === 1 && first!.fault !== undefined && { MUTANT: String(first!.fault) }),
    },
    stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
    // A group of its own, which ends with all that it has started.
    detached: true,
  });
  const kill = () => killGroup(worker.pid!);
  process.once('exit', kill);
  let timer: NodeJS.Timeout | undefined;
  const restart = () => {
    clearTimeout(timer);
    timer = setTimeout(kill, HANGS);
  };
  let last: string | undefined;
  worker.on('message', (message: 'ready' | { file: string } | Outcome) => {
    restart();
    if (message === 'ready') worker.send(jobs);
    else if ('file' in message) last = message.file;
    else onOutcome(message);
  });
  restart();
  await once(worker, 'exit');
  clearTimeout(timer);
  process.off('exit', kill);
  kill();
  return last;
}

function killGroup(pid: number): void {
  try {
    process.kill(-pid, 'SIGKILL');
  } catch {
    // All its processes have ended.
  }
}

function progress(what: string, done: number, all: number): void {
  if (process.stdout.isTTY || done % 10 === 0 || done === all) console.log(`${done} of ${all} ${what}`);
}
