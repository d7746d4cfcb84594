import { Client, type ClientConfig } from 'pg';

/**
 * `pg` stops waiting for an answer after `query_timeout` but keeps the connection, and with it every later
 * query behind the one that hangs. A server that does not answer is taken for gone: the connection is cut,
 * so that the pool forgets it.
 */
export class ImpatientClient extends Client {
  constructor(options?: ClientConfig) {
    super(options);
    const query = this.query.bind(this) as (...args: unknown[]) => unknown;
    const cut = (error: Error | null) => {
      if (error?.message !== 'Query read timeout') return;
      const { connection } = this as unknown as { connection: { stream: { destroy(): void } } };
      connection.stream.destroy();
    };

    const watched = (...args: unknown[]): unknown => {
      const last = args.length - 1;
      const callback = args[last];
      if (typeof callback === 'function') {
        args[last] = (error: Error | null, ...rest: unknown[]) => {
          cut(error);
          callback(error, ...rest);
        };
        return query(...args);
      }
      const answer = query(...args);
      if (answer instanceof Promise) answer.catch(cut);
      return answer;
    };
    this.query = watched as typeof this.query;
  }
}
