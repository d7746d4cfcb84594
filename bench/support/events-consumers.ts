/**
 * Opens event streams and reads them as cheaply as possible, in a separate process, because the server is
 * measured. `node events-consumers.ts URL COUNT` prints `open` when all are open, and ends with its parent.
 */
import { connect } from 'node:net';

/** Streams of one address: a client may have 50. */
const PER_ADDRESS = 50;

const [url = '', count = '0'] = process.argv.slice(2);
const { hostname, port } = new URL(url);
const buffer = Buffer.alloc(256 * 1024);

for (let n = 0; n < Number(count); n++) await open(addressOf(Math.floor(n / PER_ADDRESS)));
console.log('open');
process.stdin.on('end', () => process.exit()).resume();

/** Of two networks, because one may have half of the streams. */
function addressOf(client: number): string {
  return `127.0.${1 + (client % 2)}.${1 + Math.floor(client / 2)}`;
}

function open(localAddress: string): Promise<void> {
  return new Promise((resolve, reject) => {
    const socket = connect({
      host: hostname,
      port: Number(port),
      localAddress,
      // One buffer for all streams, because the data is not used.
      onread: { buffer, callback: () => (resolve(), true) },
    });
    socket.once('error', reject);
    // The service disconnects streams that are read too slowly, which would make the result too good.
    socket.once('close', () => process.exit(1));
    socket.write(`GET /v1/events/stream HTTP/1.1\r\nHost: ${hostname}\r\n\r\n`);
  });
}
