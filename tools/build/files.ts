import { existsSync, mkdirSync, readFileSync, renameSync, statSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { brotliCompressSync, constants, gzipSync } from 'node:zlib';

/** Writes a file atomically, and only if it differs: a running service may be sending it. */
export function put(file: string, content: Buffer): void {
  if (!existsSync(file) || !readFileSync(file).equals(content)) write(file, content);
}

function write(file: string, content: Buffer): void {
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(`${file}.${process.pid}`, content);
  renameSync(`${file}.${process.pid}`, file);
}

/** Writes compressed copies next to a file, which the service sends to clients that accept them. */
export function compress(file: string): void {
  const { mtimeMs } = statSync(file);
  const isCurrent = (copy: string) => existsSync(copy) && statSync(copy).mtimeMs > mtimeMs;
  if (isCurrent(`${file}.br`) && isCurrent(`${file}.gz`)) return;
  const content = readFileSync(file);
  const params = { [constants.BROTLI_PARAM_QUALITY]: 9 };
  write(`${file}.gz`, gzipSync(content, { level: 9 }));
  write(`${file}.br`, brotliCompressSync(content, { params }));
}
