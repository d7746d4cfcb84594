import { Injectable } from '@nestjs/common';
import { EventEmitter2 } from '@nestjs/event-emitter';
import { CommittedEvents } from './committed-events.js';

/** Emits events in the process that made the change, after its commit, for `@OnEvent()`. A killed process loses them. */
@Injectable()
export class InProcessEvents {
  constructor(emitter: EventEmitter2, committed: CommittedEvents) {
    committed.listen((events) => {
      if (emitter.eventNames().length === 0) return;
      for (const event of events()) emitter.emit(event.type, event);
    });
  }
}
