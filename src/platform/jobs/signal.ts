import type { Logger } from '@nestjs/common';

/** Tells others in this process that something has happened. */
export class Signal<T = void> {
  private readonly listeners: ((value: T) => void)[] = [];

  constructor(private readonly logger: Logger) {}

  listen(listener: (value: T) => void): void {
    this.listeners.push(listener);
  }

  /** Calls all listeners. What has happened stands, whatever they do: an error goes to the log. */
  send(value: T): void {
    for (const listener of this.listeners) {
      try {
        listener(value);
      } catch (error) {
        this.logger.error({ msg: 'A listener failed', err: error });
      }
    }
  }
}
