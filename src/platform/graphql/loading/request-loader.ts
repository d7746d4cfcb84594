import DataLoader from 'dataloader';
import { Operation } from './operation.js';

/**
 * Loads the values that the fields of one request need in one batch. A value is forgotten once its batch is loaded: a
 * later mutation of the same operation, and the fields of its result, read the current rows. The loader belongs to
 * the request's context; request-scoped injection would create the resolvers for each request.
 */
export class RequestLoader<Key, Value, CacheKey = Key> {
  /** Property of the context. In a `WeakMap`, a loader would keep its context in memory until a full collection. */
  private readonly property = Symbol('loader');

  /**
   * @param loadBatch loads the values of the keys, in their order; a value that is an `Error` is thrown
   * @param cacheKey identifies keys that are objects
   */
  constructor(
    private readonly loadBatch: (
      keys: readonly Key[],
      context: object,
    ) => PromiseLike<ArrayLike<Value | Error>>,
    private readonly cacheKey?: (key: Key) => CacheKey,
  ) {}

  load(context: object, key: Key): Promise<Value> {
    const loaders = context as Record<symbol, DataLoader<Key, Value, CacheKey>>;
    const loader = (loaders[this.property] ??= this.create(context));
    return Operation.of(context).passOn(loader.load(key));
  }

  private create(context: object): DataLoader<Key, Value, CacheKey> {
    const loader: DataLoader<Key, Value, CacheKey> = new DataLoader(
      (keys) => {
        loader.clearAll();
        return this.loadBatch(keys, context);
      },
      {
        batchScheduleFn: (load) => Operation.of(context).whenPassedOn(load),
        ...(this.cacheKey && { cacheKeyFn: this.cacheKey }),
      },
    );
    return loader;
  }
}
