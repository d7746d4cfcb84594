import { setImmediate as nextTurn } from 'node:timers/promises';
import { Logger } from '@nestjs/common';
import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { onlyFake } from '../../../test/support/fake-timers.js';
import type { Config } from '../config/config.js';
import { BackgroundTasks } from './background-task.js';

const logger = new Logger('Test');
const SECOND = 1000;

describe('BackgroundTasks', () => {
  beforeEach(() => void jest.useFakeTimers(onlyFake('setTimeout', 'clearTimeout', 'performance')));
  afterEach(() => void jest.useRealTimers());

  const tasksOf = (serves: boolean) => new BackgroundTasks({ serves } as Config);
  /** Lets time pass in steps, so that each run ends. */
  async function pass(seconds: number): Promise<void> {
    for (let n = 0; n < seconds * 10; n++) {
      jest.advanceTimersByTime(SECOND / 10);
      await nextTurn();
    }
  }

  it('repeat work in a process that serves, one run at a time, until it stops', async () => {
    const tasks = tasksOf(true);
    const ends: (() => void)[] = [];
    const run = jest.fn(() => new Promise<void>((resolve) => ends.push(resolve)));
    const task = tasks.repeat({ logger, failure: 'It failed', interval: 3 * SECOND, run });
    await tasks.onApplicationBootstrap();
    await pass(10);
    task.wake();
    await pass(1);
    expect(run).toHaveBeenCalledTimes(1);

    ends.shift()!();
    await pass(1);
    expect(run).toHaveBeenCalledTimes(2);
    const stopped = tasks.beforeApplicationShutdown();
    ends.shift()!();
    await stopped;
    await pass(10);
    expect(run).toHaveBeenCalledTimes(2);
  });

  it('do nothing in a command', async () => {
    const tasks = tasksOf(false);
    const run = jest.fn();
    const task = tasks.repeat({ logger, failure: 'It failed', interval: SECOND, run });
    await tasks.onApplicationBootstrap();
    task.wake();
    await pass(5);
    await tasks.beforeApplicationShutdown();

    expect(run).not.toHaveBeenCalled();
  });

  it('wait between two runs, however often they are woken', async () => {
    const tasks = tasksOf(true);
    const run = jest.fn();
    const options = { logger, failure: 'It failed', interval: 60 * SECOND, run, pause: () => 2 * SECOND };
    const task = tasks.repeat(options);
    await tasks.onApplicationBootstrap();
    for (let n = 0; n < 9; n++) {
      task.wake();
      await pass(1);
    }

    expect(run.mock.calls.length).toBeGreaterThanOrEqual(4);
    expect(run.mock.calls.length).toBeLessThanOrEqual(5);
  });

  it('go on after a failure, which the log names at most once a minute', async () => {
    const warn = jest.spyOn(logger, 'warn').mockReturnValue(undefined);
    const tasks = tasksOf(true);
    const run = jest.fn(() => Promise.reject(new Error('No database')));
    tasks.repeat({ logger, failure: 'It failed', interval: SECOND, run });
    await tasks.onApplicationBootstrap();
    await pass(59);
    expect(run.mock.calls.length).toBeGreaterThan(40);
    expect(warn.mock.calls).toEqual([[{ msg: 'It failed', err: expect.any(Error) }]]);

    await pass(10);
    expect(warn).toHaveBeenCalledTimes(2);
  });

  it('are not added to an application that has started', async () => {
    const tasks = tasksOf(true);
    await tasks.onApplicationBootstrap();

    expect(() => tasks.repeat({ logger, failure: 'It failed', interval: SECOND, run: jest.fn() })).toThrow(
      'Add background work in a constructor or in onModuleInit: the application has started',
    );
  });
});
