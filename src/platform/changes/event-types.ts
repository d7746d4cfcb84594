import { Injectable, type Type } from '@nestjs/common';
import type { EventsOf } from './define-events.js';

/** The types of events that modules have registered. */
@Injectable()
export class EventTypes {
  private readonly definitions = new Map<string, EventsOf>();

  /** Types that are not in the log, and go to webhooks alone, with the classes of their data. */
  readonly ofWebhooks = new Map<string, Type>();

  register(definition: EventsOf): void {
    for (const type of definition.types) this.definitions.set(type, definition);
  }

  get all(): readonly string[] {
    return [...this.definitions.keys()];
  }

  has(type: string): boolean {
    return this.definitions.has(type);
  }

  /** The classes of the data of events. */
  get views(): Type[] {
    return this.all.map((type) => this.viewOf(type)).filter((view) => view !== undefined);
  }

  /** The class of the data of a type, if it has one. */
  viewOf(type: string): Type | undefined {
    return this.ofWebhooks.get(type) ?? this.definitions.get(type)?.viewOf(type);
  }

  isPrivate(type: string): boolean {
    return this.definitions.get(type)?.isPrivate ?? true;
  }
}
