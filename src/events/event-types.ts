import { Injectable } from '@nestjs/common';
import type { EventsOf } from './define-events.js';

/** The types of events that modules have registered. */
@Injectable()
export class EventTypes {
  private readonly known = new Map<string, { readonly isPrivate: boolean }>();

  register(definition: EventsOf): void {
    for (const type of definition.types) this.known.set(type, definition);
  }

  get all(): readonly string[] {
    return [...this.known.keys()];
  }

  has(type: string): boolean {
    return this.known.has(type);
  }

  isPrivate(type: string): boolean {
    return this.known.get(type)?.isPrivate ?? true;
  }
}
