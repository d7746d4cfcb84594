import DataLoader, { type BatchLoadFn } from 'dataloader';

/**
 * Gathers what the fields of one request ask for into one batch, and remembers it for that request alone.
 * It is kept by the request's context and not by request-scoped injection, which would build the resolvers
 * anew each time.
 */
export class RequestLoader<Key, Value, CacheKey = Key> {
  private readonly loaders = new WeakMap<object, DataLoader<Key, Value, CacheKey>>();

  /** @param cacheKey what makes two keys the same, where they are objects */
  constructor(
    private readonly loadBatch: BatchLoadFn<Key, Value>,
    private readonly cacheKey?: (key: Key) => CacheKey,
  ) {}

  load(context: object, key: Key): Promise<Value> {
    let loader = this.loaders.get(context);
    if (!loader) {
      loader = new DataLoader(this.loadBatch, this.cacheKey ? { cacheKeyFn: this.cacheKey } : {});
      this.loaders.set(context, loader);
    }
    return loader.load(key);
  }
}
