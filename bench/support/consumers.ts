/**
 * Opens streams of events and empties them, in a process of its own and as cheaply as can be: what is measured is the
 * server. `node consumers.ts URL COUNT`, prints `open` when all are, and ends with the parent.
 */
import { connect } from 'node:net';

/** Streams of one address: a client may have 50. */
const PER_ADDRESS = 50;

const [url = '', count = '0'] = process.argv.slice(2);
const { hostname, port } = new URL(url);
const buffer = Buffer.alloc(256 * 1024);

for (let n = 0; n < Number(count); n++) await open(`127.0.1.${1 + Math.floor(n / PER_ADDRESS)}`);
console.log('open');
process.stdin.on('end', () => process.exit()).resume();

function open(localAddress: string): Promise<void> {
  return new Promise((resolve, reject) => {
    const socket = connect({
      host: hostname,
      port: Number(port),
      localAddress,
      // One buffer for all: nobody looks at it.
      onread: { buffer, callback: () => (resolve(), true) },
    });
    socket.once('error', reject);
    socket.write(`GET /v1/events/stream HTTP/1.1\r\nHost: ${hostname}\r\n\r\n`);
  });
}
