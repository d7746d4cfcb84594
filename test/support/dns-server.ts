import { createSocket, type Socket } from 'node:dgram';
import { isIP } from 'node:net';

/** Types of queries (RFC 1035, RFC 3596). */
const IPV4 = 1;
const IPV6 = 28;

/**
 * Starts a DNS server on a port of its own (RFC 1035).
 *
 * @param addressesOf the addresses of a name, `null` for a name that does not exist, `undefined` for no response
 */
export function startDns(
  addressesOf: (name: string, isIpv6: boolean) => readonly string[] | null | undefined,
): Promise<Socket> {
  const server = createSocket('udp4', (query, { port }) => {
    const labels: string[] = [];
    let end = 12;
    for (let length = query[end]!; length > 0; length = query[end]!) {
      labels.push(query.toString('latin1', end + 1, end + 1 + length));
      end += 1 + length;
    }
    const type = query.readUInt16BE(end + 1);
    const question = query.subarray(12, end + 5);
    const known = addressesOf(labels.join('.'), type === IPV6);
    if (known === undefined) return;
    const family = type === IPV4 ? 4 : 6;
    const records = (known ?? []).filter((address) => isIP(address) === family).map(bytesOf);
    const header = Buffer.concat([
      query.subarray(0, 2),
      Buffer.from([0x81, known === null ? 0x83 : 0x80, 0, 1, 0, records.length, 0, 0, 0, 0]),
    ]);
    const answers = records.map((bytes) =>
      Buffer.from([0xc0, 0x0c, 0, type, 0, 1, 0, 0, 0, 60, 0, bytes.length, ...bytes]),
    );
    server.send(Buffer.concat([header, question, ...answers]), port, '127.0.0.1');
  });
  return new Promise((resolve) => server.bind(0, '127.0.0.1', () => resolve(server)));
}

/** @param address an IPv6 address contains `::` once */
function bytesOf(address: string): number[] {
  if (isIP(address) === 4) return address.split('.').map(Number);
  const [head, tail] = address.split('::').map((part) =>
    part
      .split(':')
      .filter(Boolean)
      .flatMap((group) => [Number.parseInt(group, 16) >> 8, Number.parseInt(group, 16) & 0xff]),
  );
  return [...head!, ...Array<number>(16 - head!.length - tail!.length).fill(0), ...tail!];
}
