import { Injectable, Logger } from '@nestjs/common';
import type { NewEvent } from './define-events.js';

type Listener = (events: () => readonly NewEvent[]) => void;

/** Reports the events of this process after their commit. */
@Injectable()
export class CommittedEvents {
  private readonly logger = new Logger('Events');
  private readonly listeners: Listener[] = [];

  listen(listener: Listener): void {
    this.listeners.push(listener);
  }

  /** @param events a function, called only if there are listeners */
  report(events: () => readonly NewEvent[]): void {
    for (const listener of this.listeners) {
      try {
        listener(events);
      } catch (error) {
        // The change is committed, so its request succeeds.
        this.logger.error({ msg: 'A listener of events failed', err: error });
      }
    }
  }
}
