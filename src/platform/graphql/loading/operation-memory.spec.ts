import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { onlyFake } from '../../../../test/support/fake-timers.js';
import type { FastifyRequest } from 'fastify';
import { RequestContext } from '../../http/request-context.js';
import { Operation } from './operation.js';

const MIB = 1024 * 1024;

/** An operation of a client that waits for memory or has got it. */
class LargeOperation {
  private readonly operation: Operation;
  /** The number of requests that were granted. */
  granted = 0;
  failure: unknown;

  constructor(address: string) {
    this.operation = Operation.of({
      req: { context: new RequestContext({ ip: address, headers: {} } as FastifyRequest) },
    });
    this.operation.markLarge();
  }

  async reserve(mib: number): Promise<this> {
    void this.operation.reserve(mib * MIB).then(
      () => this.granted++,
      (error: unknown) => (this.failure = error),
    );
    await settled();
    return this;
  }

  async end(): Promise<void> {
    this.operation.end();
    await settled();
  }
}

const settled = () => new Promise<void>((resolve) => void setImmediate(resolve));

describe('the memory of large operations', () => {
  let started: LargeOperation[] = [];
  const start = (address: string): LargeOperation => {
    const operation = new LargeOperation(address);
    started.push(operation);
    return operation;
  };
  beforeEach(() => {
    started = [];
    jest.useFakeTimers(onlyFake('setTimeout', 'clearTimeout'));
  });
  afterEach(async () => {
    for (const operation of started) await operation.end();
    jest.useRealTimers();
  });

  it('is 64 MiB together; further operations wait until one ends', async () => {
    const [a, b] = [await start('192.0.2.1').reserve(40), await start('192.0.2.2').reserve(24)];
    const c = await start('192.0.2.3').reserve(1);
    expect([a.granted, b.granted, c.granted]).toEqual([1, 1, 0]);

    await b.end();
    expect(c.granted).toBe(1);
  });

  it('is there for the oldest operation, however much it needs, so that none waits for another forever', async () => {
    const [a, b] = [await start('192.0.2.1').reserve(40), await start('192.0.2.2').reserve(20)];
    await b.reserve(20);
    await a.reserve(20);
    expect([a.granted, b.granted]).toEqual([2, 1]);

    await a.end();
    expect(b.granted).toBe(2);
  });

  it('is a quarter for one client while others wait', async () => {
    const others = await start('192.0.2.9').reserve(48);
    const mine = [await start('192.0.2.1').reserve(12), await start('192.0.2.1').reserve(2)];
    const waiting = await start('192.0.2.2').reserve(16);
    expect(mine.map(({ granted }) => granted)).toEqual([1, 1]);
    const more = await start('192.0.2.1').reserve(2);
    const tooMuch = await start('192.0.2.1').reserve(3);
    await others.end();

    expect([waiting.granted, more.granted]).toEqual([1, 1]);
    // Nobody waits any more.
    expect(tooMuch.granted).toBe(1);
  });

  it('counts the addresses of one IPv6 subscriber as one client', async () => {
    await start('192.0.2.9').reserve(40);
    await start('2001:db8::1').reserve(16);
    const waiting = await start('192.0.2.2').reserve(20);
    const same = await start('2001:db8::2').reserve(1);

    expect([waiting.granted, same.granted]).toEqual([0, 0]);
  });

  it('goes to the waiting clients in turn', async () => {
    const first = await start('192.0.2.9').reserve(64);
    const mine = [await start('192.0.2.1').reserve(40), await start('192.0.2.1').reserve(40)];
    const other = await start('192.0.2.2').reserve(40);
    await first.end();
    await mine[0]!.end();

    expect(other.granted).toBe(1);
    expect(mine[1]!.granted).toBe(0);
  });

  it('is refused after ten seconds', async () => {
    const holder = await start('192.0.2.1').reserve(64);
    const late = await start('192.0.2.2').reserve(1);
    jest.advanceTimersByTime(9_999);
    await settled();
    expect(late.failure).toBeUndefined();
    jest.advanceTimersByTime(1);
    await settled();

    expect(late.failure).toMatchObject({ code: 'SERVICE_UNAVAILABLE' });
    await holder.end();
    expect(late.granted).toBe(0);
    expect((await start('192.0.2.3').reserve(64)).granted).toBe(1);
  });
});
