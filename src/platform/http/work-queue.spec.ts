import { afterEach, describe, expect, it, jest } from '@jest/globals';
import { onlyFake } from '../../../test/support/fake-timers.js';
import { WorkQueue } from './work-queue.js';

describe('WorkQueue', () => {
  afterEach(() => void jest.useRealTimers());

  const unavailable = { code: 'SERVICE_UNAVAILABLE' };

  type Limits = ConstructorParameters<typeof WorkQueue>[0];

  function start(limits: Omit<Limits, 'full'>) {
    const queue = new WorkQueue<'a' | 'b'>({ ...limits, full: 'Too much' });
    const started: string[] = [];
    const finish = new Map<string, () => void>();
    const work = (name: string, kind: 'a' | 'b' = 'a', client?: string) =>
      queue.run(kind, client, () => {
        started.push(name);
        return new Promise<string>((resolve) => finish.set(name, () => resolve(name)));
      });
    const finishNext = async (name: string) => {
      finish.get(name)!();
      await new Promise(setImmediate);
    };
    return { queue, started, work, finishNext };
  }

  it('runs up to its concurrency at once, queues the rest in order, and rejects work when the queue is full', async () => {
    const { started, work, finishNext } = start({ concurrency: 2, capacity: 3 });

    const runs = ['0', '1', '2', '3', '4'].map((name) => work(name));
    await expect(work('5')).rejects.toMatchObject(unavailable);
    expect(started).toEqual(['0', '1']);

    await finishNext('0');
    const late = work('6');
    for (const name of ['1', '2', '3', '4', '6']) await finishNext(name);

    expect(await Promise.all([...runs, late])).toEqual(['0', '1', '2', '3', '4', '6']);
    expect(started).toEqual(['0', '1', '2', '3', '4', '6']);
  });

  it('alternates between kinds, and bounds the queue of each', async () => {
    const { started, work, finishNext } = start({ concurrency: 1, capacity: 3 });

    const runs = ['a0', 'a1', 'a2', 'a3'].map((name) => work(name));
    await expect(work('a4')).rejects.toMatchObject(unavailable);
    runs.push(work('b0', 'b'), work('b1', 'b'));
    for (const name of ['a0', 'a1', 'b0', 'a2', 'b1', 'a3']) await finishNext(name);

    await Promise.all(runs);
    expect(started).toEqual(['a0', 'a1', 'b0', 'a2', 'b1', 'a3']);
  });

  it('limits one client to a quarter of a queue', async () => {
    const { started, work, finishNext } = start({ concurrency: 1, capacity: 8 });

    const runs = [work('0', 'a', 'x'), work('1', 'a', 'x'), work('2', 'a', 'x')];
    await expect(work('3', 'a', 'x')).rejects.toMatchObject(unavailable);
    runs.push(work('4', 'a', 'y'), work('5', 'b', 'x'));
    for (const name of ['0', '4', '5', '1', '2']) await finishNext(name);

    await Promise.all(runs);
    expect(started).toEqual(['0', '4', '5', '1', '2']);
  });

  it('serves the clients of a queue in rotation', async () => {
    const { queue, started, work, finishNext } = start({ concurrency: 1, capacity: 12 });

    const runs = ['x0', 'x1', 'x2', 'x3'].map((name) => work(name, 'a', 'x'));
    runs.push(work('y0', 'a', 'y'), work('y1', 'a', 'y'), work('z0', 'a', 'z'));
    expect(queue.waitingCount('a')).toBe(6);
    const order = ['x0', 'y0', 'x1', 'z0', 'y1', 'x2', 'x3'];
    for (const name of order) await finishNext(name);

    await Promise.all(runs);
    expect(started).toEqual(order);
    expect(queue.waitingCount('a')).toBe(0);
  });

  it('rejects a task that has waited for too long, and serves the others', async () => {
    jest.useFakeTimers(onlyFake('setTimeout', 'clearTimeout'));
    const { queue, started, work, finishNext } = start({ concurrency: 1, capacity: 12, patience: 1000 });

    const first = work('0');
    const late = work('late', 'a', 'x').catch((error: unknown) => error);
    jest.advanceTimersByTime(600);
    const other = work('1', 'b', 'y');
    jest.advanceTimersByTime(400);
    expect(await late).toMatchObject(unavailable);
    expect([queue.waitingCount('a'), queue.waitingCount('b')]).toEqual([0, 1]);
    await finishNext('0');
    jest.advanceTimersByTime(1000);
    await finishNext('1');

    expect(await Promise.all([first, other])).toEqual(['0', '1']);
    expect(started).toEqual(['0', '1']);
    expect(queue.runningCount).toBe(0);
  });

  it('continues after a failure', async () => {
    const queue = new WorkQueue<'a'>({ concurrency: 1, capacity: 1, full: 'Too much' });
    const failing = queue.run('a', undefined, () => Promise.reject(new Error('failed')));
    const next = queue.run('a', undefined, async () => 'done');

    await expect(failing).rejects.toThrow('failed');
    expect(await next).toBe('done');
    expect(await queue.run('a', undefined, async () => 'again')).toBe('again');
  });
});
