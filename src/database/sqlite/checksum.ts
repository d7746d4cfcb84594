import { createHash } from 'node:crypto';
import { appendFileSync, createReadStream } from 'node:fs';
import { open } from 'node:fs/promises';
import { DatabaseError } from '../failures.js';
import { flush, unreadable } from './snapshot.js';

/** The first bytes of a database (https://sqlite.org/fileformat2.html, section 1.2). */
const MAGIC = 'SQLite format 3\0';

/** Where the header has the page size, in two bytes; 1 stands for 65,536. */
const PAGE_SIZE = MAGIC.length;

/** After the last page, where SQLite reads nothing. */
const TRAILER = /^\nSHA-256 ([0-9a-f]{64})\n$/;
const TRAILER_LENGTH = 74;

const startsDatabase = (head: Buffer): boolean => head.toString('latin1', 0, MAGIC.length) === MAGIC;

/** Whether a file is a database, which may be damaged. */
export const isDatabase = async (file: string): Promise<boolean> => startsDatabase((await endsOf(file)).head);

/** Appends the SHA-256 of a database to its file. */
export async function appendChecksum(file: string): Promise<void> {
  appendFileSync(file, `\nSHA-256 ${await hashOf(file)}\n`);
  flush(file);
}

/**
 * Compares a backup with its checksum.
 *
 * @returns false if it has none: it was made by an earlier version, or another program
 * @throws DatabaseError if it cannot be read, or has changed since it was written
 */
export async function compareChecksum(file: string): Promise<boolean> {
  const { size, head, tail } = await endsOf(file).catch((error: unknown) => {
    throw unreadable(file, error);
  });
  if (!startsDatabase(head)) return false;
  const [, stored] = TRAILER.exec(tail.toString('latin1')) ?? [];
  // A whole number of pages has no checksum; a damaged one leaves an odd size.
  if (stored === undefined && size % pageSizeOf(head) === 0) return false;
  if (stored === undefined || (await hashOf(file, size - TRAILER_LENGTH)) !== stored) {
    throw new DatabaseError(`${file} is damaged: it has changed since the backup. Use another backup`);
  }
  return true;
}

async function endsOf(file: string): Promise<{ size: number; head: Buffer; tail: Buffer }> {
  const handle = await open(file, 'r');
  try {
    const { size } = await handle.stat();
    const [head, tail] = [Buffer.alloc(PAGE_SIZE + 2), Buffer.alloc(TRAILER_LENGTH)];
    await handle.read(head, 0, head.length, 0);
    await handle.read(tail, 0, tail.length, Math.max(0, size - TRAILER_LENGTH));
    return { size, head, tail };
  } finally {
    await handle.close();
  }
}

function pageSizeOf(head: Buffer): number {
  const size = head.readUInt16BE(PAGE_SIZE);
  return size === 1 ? 65_536 : size;
}

async function hashOf(file: string, length = Infinity): Promise<string> {
  const hash = createHash('sha256');
  for await (const chunk of createReadStream(file, { end: length - 1 })) hash.update(chunk as Buffer);
  return hash.digest('hex');
}
