import { Injectable, Logger } from '@nestjs/common';
import { EventEmitter2 } from '@nestjs/event-emitter';
import { Signal } from '../jobs/signal.js';
import type { NewEvent } from './define-events.js';

/** The events of this process, after their commit. */
@Injectable()
export class CommittedEvents extends Signal<readonly NewEvent[]> {
  constructor() {
    super(new Logger('Events'));
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
