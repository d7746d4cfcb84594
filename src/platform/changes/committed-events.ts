import { Injectable, Logger } from '@nestjs/common';
import { EventEmitter2 } from '@nestjs/event-emitter';
import type { NewEvent } from './define-events.js';

type Listener = (events: readonly NewEvent[]) => void;

/** Reports the events of this process after their commit. */
@Injectable()
export class CommittedEvents {
  private readonly logger = new Logger('Events');
  private readonly listeners: Listener[] = [];

  listen(listener: Listener): void {
    this.listeners.push(listener);
  }

  report(events: readonly NewEvent[]): void {
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

/** Emits events in the process that made the change, after its commit, for `@OnEvent()`. A killed process loses them. */
@Injectable()
export class InProcessEvents {
  constructor(emitter: EventEmitter2, committed: CommittedEvents) {
    committed.listen((events) => {
      for (const event of events) emitter.emit(event.type, event);
    });
  }
}
