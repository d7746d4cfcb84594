/**
 * `npm run test:mutants`: plants faults in the sources of a copy of the project, one at a time, and runs the tests that
 * reach the place of each on SQLite, until one fails: at most twenty test files, and those with a word of its name. Each
 * fault that survives shows a test that is missing, or is listed in survivors.json: `equivalent` with a sentence that
 * says why nobody can notice it, `noticedElsewhere` with the check that fails, or with the test that fails: in another
 * process, on PostgreSQL, or in a file that the run did not choose.
 */
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, globSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { parseCommandLine, rejectUsage } from '../../src/commands/support/command-line.ts';
import { CopyOfProject } from '../support/copy-of-project.ts';
import { choose, type Fault, faultsIn, plant } from './plant.ts';
import type { Job, Outcome } from './worker.ts';

const ROOMS = [
  'posts',
  'users',
  'orders',
  'platform/idempotency',
  'platform/changes',
  'webhooks',
  'accounts',
  'auth',
  'platform/database',
  'platform/http',
];
/** Of earlier runs. A fault is tried again when its file has changed before it, or with `--again`. */
const RESULTS = 'node_modules/.cache/mutants.json';
/** How many faults are planted in each room. What the tests reach of all of them shows what each test is about. */
const FAULTS = 45;
/** How many faults a process tries: one that leaves something behind spoils the others at most. */
const BATCH = 20;
/** How many test files try a fault: those most about its source file for their time, and those most about it. */
const QUICK = 12;
const THOROUGH = 8;
/** Processes that try faults side by side, because tests often wait; more of them make tests fail on two cores. */
const WORKERS = [0, 1, 2];
/** After how long a fault counts as noticed, because a test file does not end, in milliseconds. */
const HANGS = 180_000;

interface Result {
  readonly caught: boolean;
  readonly by: string;
}

const { values } = parseCommandLine(
  `Usage: npm run test:mutants [-- --faults ${FAULTS} --rooms NAMES --again]

  --faults  tries this many of each room (${FAULTS})
  --rooms   only of these, separated by commas: ${ROOMS.join(', ')}
  --again   tries again what survived in an earlier run, unless it is listed`,
  {
    options: {
      faults: { type: 'string', default: String(FAULTS) },
      rooms: { type: 'string', default: ROOMS.join() },
      again: { type: 'boolean', default: false },
    },
  },
);
const rooms = values.rooms.split(',');
if (!rooms.every((room) => ROOMS.includes(room))) rejectUsage(`--rooms must be some of ${ROOMS.join(', ')}`);
const byRoom = new Map(
  ROOMS.map((room) => {
    const files = globSync(`src/${room}/**/*.ts`, { exclude: ['**/*.spec.ts', '**/migrations/**'] });
    const all = files.flatMap((file) => faultsIn(file, readFileSync(file, 'utf8')));
    return [room, choose(all, FAULTS)];
  }),
);
/** All that are planted. */
const faults = [...byRoom.values()].flat();
/** The first of each room come before the second of any: a run that is stopped has tried all rooms. */
const asked = Array.from({ length: Number(values.faults) }, (_, n) =>
  rooms.flatMap((room) => byRoom.get(room)![n] ?? []),
).flat();
const {
  equivalent,
  noticedElsewhere,
}: Record<'equivalent' | 'noticedElsewhere', Record<string, string>> = JSON.parse(
  readFileSync('test/mutants/survivors.json', 'utf8'),
);
const results = new Map<string, Result>(existsSync(RESULTS) ? JSON.parse(readFileSync(RESULTS, 'utf8')) : []);
const isListed = ({ key }: Fault) => key in equivalent || key in noticedElsewhere;
const isOpen = (fault: Fault) =>
  !results.has(fault.key) || (values.again && !results.get(fault.key)!.caught && !isListed(fault));
const open = asked.filter((fault) => isOpen(fault));
/** Each gets a process of its own. */
const doubtful = new Set<Fault>();

const copy = CopyOfProject.untilExit();
symlinkSync(resolve('dist'), join(copy.folder, 'dist'));
process.once('SIGINT', end);
const numbers = new Map(faults.map((fault, n) => [fault, n]));
for (const [file, own] of Map.groupBy(faults, (fault) => fault.file))
  copy.write(file, plant(readFileSync(file, 'utf8'), own, numbers));

if (open.length > 0) {
  console.log(`${open.length} faults to plant; first, all tests run without one`);
  const reaching = await findTests();
  const queue = [...open];
  await Promise.all(
    WORKERS.map(async () => {
      for (let batch = take(queue); batch.length > 0; batch = take(queue)) {
        const undecided = await tryBatch(batch, reaching);
        queue.unshift(...undecided);
        progress('faults', open.filter(({ key }) => results.has(key)).length, open.length);
      }
    }),
  );
}
end();

/** @returns the test files that try each fault */
async function findTests(): Promise<(fault: Fault) => string[]> {
  const files = globSync('{src,test}/**/*.{spec,e2e-spec}.ts', {
    exclude: ['test/{extra,recipes,system}/**', 'test/jest/**', 'test/mutants/**'],
  });
  const outcomes: Outcome[] = [];
  const jobs = files.map((file) => ({ files: [file] }));
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
  return (fault) => {
    // Nobody reaches a guard; the tests of its folder may notice that it is gone.
    const isNear = fault.isStatic
      ? (n: number) => dirname(faults[n]!.file) === dirname(fault.file)
      : (n: number) => faults[n]!.file === fault.file;
    const isReached = fault.isStatic ? isNear : (n: number) => n === numbers.get(fault);
    const able = usable
      .filter(({ reached }) => reached.some(isReached))
      .map(({ job, seconds, reached }) => ({
        file: job.files[0]!,
        seconds,
        share: reached.filter(isNear).length / reached.length,
      }));
    const quick = able.toSorted((a, b) => b.share / b.seconds - a.share / a.seconds).slice(0, QUICK);
    const thorough = able.toSorted((a, b) => b.share - a.share).slice(0, THOROUGH);
    const words = new Set(wordsOf(fault.file));
    const named = able.filter(({ file }) => wordsOf(file).some((word) => words.has(word)));
    return [...new Set([...quick, ...named, ...thorough].map(({ file }) => file))];
  };
}

/** The words of the name of a file and of its folder, without the endings of plurals. */
function wordsOf(file: string): string[] {
  const names = file.split('/').slice(-2);
  return names.flatMap((name) => name.replace(/\..*/, '').split('-')).map((word) => word.replace(/s$/, ''));
}

/** Takes the next faults that one process can try. What is decided when modules are loaded needs its own. */
function take(queue: Fault[]): Fault[] {
  const own = queue.slice(0, BATCH).findIndex((fault) => fault.isStatic || doubtful.has(fault));
  return queue.splice(0, own === -1 ? BATCH : own || 1);
}

/** @returns what comes again: what follows a fault that did not end, and what was tried in a process that was spoiled */
async function tryBatch(batch: readonly Fault[], reaching: (fault: Fault) => string[]): Promise<Fault[]> {
  let tried = 0;
  const again: Fault[] = [];
  const jobs = batch.map((fault) => ({ fault: numbers.get(fault)!, files: reaching(fault) }));
  await work(jobs, ({ job, failed }) => {
    if (job.fault !== undefined) {
      tried++;
      record(faults[job.fault]!, {
        caught: failed !== undefined,
        by: failed ?? `${job.files.length} files`,
      });
    } else if (failed !== undefined && batch.length > 1) {
      again.push(...batch.slice(0, tried).filter(({ key }) => results.get(key)!.caught));
    }
  });
  const hanging = batch[tried];
  if (hanging) record(hanging, { caught: true, by: 'no end' });
  for (const fault of again) {
    results.delete(fault.key);
    doubtful.add(fault);
  }
  return [...batch.slice(tried + 1), ...again];
}

function record({ key }: Fault, result: Result): void {
  results.set(key, result);
  mkdirSync(dirname(RESULTS), { recursive: true });
  writeFileSync(RESULTS, JSON.stringify([...results]));
}

/** Runs jobs in a process of their own, until the first that does not end. */
async function work(jobs: readonly Job[], onOutcome: (outcome: Outcome) => void): Promise<void> {
  if (jobs.length === 0) return;
  const worker: ChildProcess = fork(join(copy.folder, 'test/mutants/worker.ts'), {
    execArgv: ['--no-warnings'],
    env: { ...process.env, ...(jobs[0]!.fault !== undefined && { MUTANT: String(jobs[0]!.fault) }) },
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
  worker.on('message', (message: 'ready' | 'alive' | Outcome) => {
    restart();
    if (message === 'ready') worker.send(jobs);
    else if (message !== 'alive') onOutcome(message);
  });
  restart();
  await once(worker, 'exit');
  clearTimeout(timer);
  process.off('exit', kill);
  kill();
}

function killGroup(pid: number): void {
  try {
    process.kill(-pid, 'SIGKILL');
  } catch {
    // All its processes have ended.
  }
}

function progress(what: string, done: number, all: number): void {
  if (process.stdout.isTTY || done % 20 === 0 || done === all) console.log(`${done} of ${all} ${what}`);
}

/** Reports what was tried until now. */
function end(): never {
  const tried = asked.filter(({ key }) => results.has(key));
  const survived = tried.filter(({ key }) => !results.get(key)!.caught);
  const missed = survived.filter((fault) => !isListed(fault));
  for (const { file, line, kind, key } of missed)
    console.log(`${file}:${line} ${kind} (${key}): ${results.get(key)!.by}`);
  const equivalents = survived.filter(({ key }) => key in equivalent).length;
  const caught = tried.length - equivalents - missed.length;
  console.log(
    `${tried.length} of ${asked.length} faults: ${caught} caught, ${missed.length} survived, ${equivalents} equivalent`,
  );
  const share = (100 * caught) / (tried.length - equivalents);
  console.log(`${share.toFixed(1)} % of those that are no equivalents are caught`);
  process.exit(0);
}
