import DataLoader, { type BatchLoadFn } from 'dataloader';

/**
 * Gathers what the fields of one request ask for into one batch. It forgets a value once its batch is loaded: a
 * later mutation of the same operation, and the fields of its result, see what is stored by then. It is kept by
 * the request's context and not by request-scoped injection, which would build the resolvers for each request.
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
    if (!loader) this.loaders.set(context, (loader = this.create()));
    return loader.load(key);
  }

  private create(): DataLoader<Key, Value, CacheKey> {
    const loader: DataLoader<Key, Value, CacheKey> = new DataLoader(
      (keys) => {
        loader.clearAll();
        return this.loadBatch(keys);
      },
      this.cacheKey ? { cacheKeyFn: this.cacheKey } : {},
    );
    return loader;
  }
}
