/**
 * Requests a large page with a client that reads nothing, and with one that reads slowly: the first is disconnected
 * after 30 to 60 seconds, the second is served. Part of `npm run test:system`.
 */
import { connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { Service } from '../support/service.ts';
import { createStore } from '../support/stores.ts';

const DUMMIES = 40;
const REQUEST = `GET /v1/dummies?limit=${DUMMIES} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`;

/** In milliseconds: the limit is 30 seconds, checked every 30. */
const EXPECTED = { min: 28_000, max: 70_000 };

const store = await createStore('SQLite');
const service = await Service.withFixture(store.environment);
for (let n = 0; n < DUMMIES; n++) await service.create('x'.repeat(1_000_000));

const start = Date.now();
const [stalled, slow] = await Promise.all([untilClosed(open()), readSlowly()]);
await service.end();
await store.remove();

const isDisconnected = stalled > EXPECTED.min && stalled < EXPECTED.max;
const isServed = slow > DUMMIES * 1_000_000;
console.log(`A client that reads nothing is disconnected after ${Math.round(stalled / 1000)} s`);
console.log(`A client that reads slowly gets ${slow} bytes`);
process.exit(isDisconnected && isServed ? 0 : 1);

function open() {
  const socket = connect(Number(new URL(service.url).port), '127.0.0.1').pause();
  socket.on('error', () => undefined).write(REQUEST);
  return socket;
}

/**
 * Writes repeatedly, because a socket that is not read does not detect that it was closed.
 *
 * @returns the milliseconds until the server closes the connection
 */
async function untilClosed(socket: ReturnType<typeof open>): Promise<number> {
  const probe = setInterval(() => socket.write('\r\n'), 500);
  const closed = new Promise((resolve) => socket.once('close', resolve));
  await Promise.race([closed, sleep(EXPECTED.max)]);
  clearInterval(probe);
  socket.destroy();
  return Date.now() - start;
}

/** Pauses for about a second after each megabyte. @returns the number of received bytes */
async function readSlowly(): Promise<number> {
  const socket = open();
  let bytes = 0;
  for await (const part of socket) {
    bytes += (part as Buffer).length;
    if (bytes % 1_000_000 < (part as Buffer).length) await sleep(900);
  }
  return bytes;
}
