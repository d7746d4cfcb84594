import type { DocumentNode } from 'graphql';
import { LRUCache } from 'lru-cache';

/** 32 MiB, for documents and persisted queries together. */
const MAX_BYTES = 32 * 1024 * 1024;

/** The heap of the syntax tree for each token of the text (measured: 300 to 400 bytes). */
const BYTES_PER_TOKEN = 400;

/** The heap of an entry besides its value. */
const BYTES_PER_ENTRY = 500;

/**
 * Caches parsed documents and persisted queries for Apollo Server (`KeyValueCache`), limited in bytes. A
 * syntax tree refers to its source text, so the text counts as well: documents padded with comments
 * must not make the cache unbounded.
 */
export class DocumentStore {
  private readonly entries = new LRUCache<string, DocumentNode | string>({
    maxSize: MAX_BYTES,
    sizeCalculation: bytesOf,
  });

  /** The size of all entries in bytes. */
  get size(): number {
    return this.entries.calculatedSize;
  }

  /** The number of entries. */
  get length(): number {
    return this.entries.size;
  }

  /** @returns the value of the key; Apollo uses different keys for documents and texts */
  get(key: string): Promise<any> {
    return Promise.resolve(this.entries.get(key));
  }

  set(key: string, value: DocumentNode | string): Promise<void> {
    this.entries.set(key, value);
    return Promise.resolve();
  }

  delete(key: string): Promise<boolean> {
    return Promise.resolve(this.entries.delete(key));
  }
}

/** One character beyond Latin-1 makes the text take two bytes for each character. */
const bytesOfText = (text: string): number => 2 * text.length;

function bytesOf(value: DocumentNode | string, key: string): number {
  const bytes = BYTES_PER_ENTRY + bytesOfText(key);
  if (typeof value === 'string') return bytes + bytesOfText(value);
  return bytes + bytesOfText(value.loc?.source.body ?? '') + BYTES_PER_TOKEN * (value.tokenCount ?? 0);
}
