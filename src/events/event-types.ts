import { Injectable } from '@nestjs/common';
import type { EventsOf } from './define-events.js';

/** The types of events that modules have registered. */
@Injectable()
export class EventTypes {
  private readonly definitions = new Map<string, { readonly isPrivate: boolean }>();

  register(definition: EventsOf): void {
    for (const type of definition.types) this.definitions.set(type, definition);
  }

  get all(): readonly string[] {
    return [...this.definitions.keys()];
  }

  has(type: string): boolean {
    return this.definitions.has(type);
  }

  isPrivate(type: string): boolean {
    return this.definitions.get(type)?.isPrivate ?? true;
  }
}
