import type { DocumentNode } from 'graphql';
import { LRUCache } from 'lru-cache';

/** 32 MiB, for documents and persisted queries together. */
const MAX_BYTES = 32 * 1024 * 1024;

/** Heap that the syntax tree takes for each token of the text (measured: 300 to 400 bytes). */
const BYTES_PER_TOKEN = 400;

/** Heap of an entry besides its value. */
const BYTES_PER_ENTRY = 500;

/**
 * Parsed documents and persisted queries, as Apollo Server keeps them (`KeyValueCache`), counted in bytes. A
 * syntax tree refers to its source text, so the text counts as well: padding a small document with comments
 * must not make the cache unbounded.
 */
export class DocumentStore {
  private readonly entries = new LRUCache<string, DocumentNode | string>({
    maxSize: MAX_BYTES,
    sizeCalculation: bytesOf,
  });

  /** Bytes that the entries count for. */
  get size(): number {
    return this.entries.calculatedSize;
  }

  /** Entries that are kept. */
  get length(): number {
    return this.entries.size;
  }

  /** @returns what was set under the key: Apollo gives documents and texts keys of their own */
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

/** A text with one character beyond Latin-1 takes two bytes for each of its characters. */
const bytesOfText = (text: string): number => 2 * text.length;

function bytesOf(value: DocumentNode | string, key: string): number {
  const bytes = BYTES_PER_ENTRY + bytesOfText(key);
  if (typeof value === 'string') return bytes + bytesOfText(value);
  return bytes + bytesOfText(value.loc?.source.body ?? '') + BYTES_PER_TOKEN * (value.tokenCount ?? 0);
}
