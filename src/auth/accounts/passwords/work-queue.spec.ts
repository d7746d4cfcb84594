import { describe, expect, it } from '@jest/globals';
import { WorkQueue } from './work-queue.js';

describe('WorkQueue', () => {
  it('runs so many at once, the others in their order, and refuses who finds the queue full', async () => {
    const queue = new WorkQueue(2, 3);
    const started: number[] = [];
    const finish: (() => void)[] = [];
    const work = (n: number) =>
      queue.run(() => {
        started.push(n);
        return new Promise<number>((resolve) => finish.push(() => resolve(n)));
      });

    const runs = [0, 1, 2, 3, 4].map(work);
    await expect(work(5)).rejects.toMatchObject({ code: 'SERVICE_UNAVAILABLE' });
    expect(started).toEqual([0, 1]);

    finish[0]!();
    expect(await runs[0]).toBe(0);
    const late = work(6);
    for (let n = 1; n < 6; n++) {
      finish[n]!();
      await new Promise(setImmediate);
    }

    expect(await Promise.all([...runs, late])).toEqual([0, 1, 2, 3, 4, 6]);
    expect(started).toEqual([0, 1, 2, 3, 4, 6]);
  });

  it('goes on after a failure', async () => {
    const queue = new WorkQueue(1, 1);
    const failing = queue.run(() => Promise.reject(new Error('failed')));
    const next = queue.run(async () => 'done');

    await expect(failing).rejects.toThrow('failed');
    expect(await next).toBe('done');
    expect(await queue.run(async () => 'again')).toBe('again');
  });
});
