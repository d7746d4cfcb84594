import { Writable } from 'node:stream';
import { describe, expect, it } from '@jest/globals';
import pino from 'pino';
import { readableLines } from './create-logger.js';

describe('the log on a terminal', () => {
  const write = (entry: object, colorize = false): string => {
    let text = '';
    const destination = new Writable({
      write(chunk, _encoding, done) {
        text += String(chunk);
        done();
      },
    });
    pino({ base: null }, readableLines({ destination, colorize })).info(entry);
    return text;
  };
  const request = {
    requestId: 'e5f81899',
    method: 'GET',
    route: '/v1/samples/:id',
    path: '/v1/samples/9',
    status: 404,
    milliseconds: 2.76,
    address: '127.0.0.1',
    accountId: 7,
  };

  it('has one line for a request', () => {
    expect(write(request)).toMatch(/^\[[\d:.]+\] INFO: GET \/v1\/samples\/9 404 in 2\.76 ms\n$/);
  });

  it('says that a client has left', () => {
    expect(write({ ...request, status: undefined, aborted: true })).toContain(
      '/v1/samples/9 aborted in 2.76 ms',
    );
  });

  it.each([
    [201, '\u001B[32m201'],
    [302, '\u001B[36m302'],
    [404, '\u001B[33m404'],
    [503, '\u001B[31m503'],
  ])('shows the status %d in its color', (status, colored) => {
    expect(write({ ...request, status }, true)).toContain(colored);
  });

  it('has one line for anything else, with the context and further fields', () => {
    const line = write({ context: 'Security', msg: 'Security event', event: 'login_failed' });
    expect(line).toMatch(/INFO: Security: Security event \{"event":"login_failed"\}\n$/);
  });
});
