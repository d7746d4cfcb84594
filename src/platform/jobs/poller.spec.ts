import { setImmediate as nextTurn } from 'node:timers/promises';
import { Logger } from '@nestjs/common';
import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { onlyFake } from '../../../test/support/fake-timers.js';
import { Poller } from './poller.js';

const logger = new Logger('Test');

/** A queue in memory, whose jobs end when the test says so. */
class TestPoller extends Poller<string> {
  readonly due: string[] = [];
  readonly started: string[] = [];
  readonly ends = new Map<string, (error?: Error) => void>();
  claims = 0;
  failure: Error | undefined;

  constructor(concurrency?: number) {
    super({ add: () => undefined }, logger, 'test', concurrency);
  }

  async claim(): Promise<string[]> {
    this.claims++;
    if (this.failure) throw this.failure;
    return this.due.splice(0, 1);
  }

  work(job: string): Promise<void> {
    this.started.push(job);
    return new Promise((resolve, reject) =>
      this.ends.set(job, (error) => (error ? reject(error) : resolve())),
    );
  }

  async end(job: string, error?: Error): Promise<void> {
    this.ends.get(job)!(error);
    await settle();
  }
}

/** Lets what is due at once happen. */
async function settle(): Promise<void> {
  for (let n = 0; n < 5; n++) {
    await nextTurn();
    jest.advanceTimersByTime(0);
  }
}

describe('Poller', () => {
  let warn: jest.Spied<Logger['warn']>;
  beforeEach(() => {
    jest.useFakeTimers(onlyFake('setTimeout', 'clearTimeout', 'performance'));
    warn = jest.spyOn(logger, 'warn').mockReturnValue(undefined);
  });
  afterEach(() => void jest.useRealTimers());

  const start = (concurrency?: number, ...due: string[]): TestPoller => {
    const poller = new TestPoller(concurrency);
    poller.due.push(...due);
    poller.start();
    return poller;
  };

  it('does nothing before its start and after its stop', async () => {
    const poller = new TestPoller();
    poller.due.push('a');
    poller.wake();
    await settle();
    poller.start();
    await poller.stop();
    poller.wake();
    jest.advanceTimersByTime(10_000);
    await settle();

    expect(poller.claims).toBe(0);
  });

  it('claims what is due when it is woken, until there is nothing', async () => {
    const poller = start(undefined, 'a', 'b', 'c');
    poller.wake();
    await settle();

    expect(poller.started).toEqual(['a', 'b', 'c']);
    expect(poller.claims).toBe(4);
  });

  it('looks again when a job becomes due after an earlier poll', async () => {
    const poller = start();
    poller.wake(100);
    poller.wake(300);
    poller.wake(200);
    jest.advanceTimersByTime(100);
    await settle();
    poller.due.push('a');
    jest.advanceTimersByTime(199);
    await settle();
    expect(poller.started).toEqual([]);
    jest.advanceTimersByTime(1);
    await settle();

    expect(poller.started).toEqual(['a']);
  });

  it('looks again when a job becomes due after a poll that was asked for later, and comes earlier', async () => {
    const poller = start();
    poller.wake(200);
    poller.wake();
    await settle();
    poller.due.push('a');
    jest.advanceTimersByTime(200);
    await settle();

    expect(poller.started).toEqual(['a']);
  });

  it('does as many jobs at a time as it may, and the next ones as soon as one ends', async () => {
    const poller = start(2, 'a', 'b', 'c');
    poller.wake();
    await settle();
    expect(poller.started).toEqual(['a', 'b']);

    await poller.end('a');
    expect(poller.started).toEqual(['a', 'b', 'c']);
  });

  it('polls once a second without being woken, also after errors, of which it reports the first', async () => {
    const poller = start();
    poller.failure = new Error('no connection');
    for (let n = 0; n < 3; n++) {
      jest.advanceTimersByTime(1000);
      await settle();
    }
    expect(poller.claims).toBe(3);
    expect(warn).toHaveBeenCalledTimes(1);

    poller.failure = undefined;
    poller.due.push('a');
    jest.advanceTimersByTime(1000);
    await settle();
    expect(poller.started).toEqual(['a']);
  });

  it('goes on when a job fails', async () => {
    const poller = start(1, 'a', 'b');
    poller.wake();
    await settle();
    await poller.end('a', new Error('not recorded'));

    expect(poller.started).toEqual(['a', 'b']);
    expect(warn).toHaveBeenCalledTimes(1);
  });

  it('waits for its jobs when it stops, and claims no more', async () => {
    const poller = start(1, 'a', 'b');
    poller.wake();
    await settle();
    let hasStopped = false;
    const stop = poller.stop().then(() => (hasStopped = true));
    await settle();
    expect(hasStopped).toBe(false);

    await poller.end('a');
    await stop;
    expect(poller.started).toEqual(['a']);
  });
});
