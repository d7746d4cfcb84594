import { Injectable, type Type } from '@nestjs/common';

/** A change of a resource, before it has a position in the log. */
export interface NewEvent {
  /** Such as `post.created`. */
  readonly type: string;
  readonly subject: string;
  /** The resource after the change, as in the REST API. */
  readonly data: object;
  /** Whether only the owner and staff may read it, unless `WRITE_ACCESS` is `open`. */
  readonly isPrivate: boolean;
  readonly ownerId: number | null;
}

interface Definition<Change extends string> {
  /** The first part of the types: `post`. */
  readonly resource: string;
  /** The path of the collection: `/v1/posts`. */
  readonly collection?: string;
  /** The second parts of the types, such as `created`. */
  readonly changes: readonly Change[];
  /** Whether only the owner of a resource and staff may read it, see `@OwnerAccess()`. */
  readonly isPrivate?: boolean;
  /** Its entity, whose changes need an event. */
  readonly entity?: Type;
  /** The class of the data, for the reference. */
  readonly view: Type;
}

interface Details {
  /** The account that owns a private resource. */
  readonly ownerId?: number | null;
  /** The path of the collection, if it depends on the resource. */
  readonly collection?: string;
}

/** Defines the events of a resource. The module registers them with `ChangesModule.forFeature`. */
export class EventsOf<Change extends string = string> {
  constructor(private readonly definition: Definition<Change>) {}

  get isPrivate(): boolean {
    return this.definition.isPrivate ?? false;
  }

  get entity(): Type | undefined {
    return this.definition.entity;
  }

  get types(): string[] {
    const { resource, changes } = this.definition;
    return changes.map((change) => `${resource}.${change}`);
  }

  /** @param data the view after the change; of a deleted resource only its id */
  of(
    change: Change,
    data: { readonly id: unknown },
    { ownerId = null, collection = this.definition.collection ?? '' }: Details = {},
  ): NewEvent {
    return {
      type: `${this.definition.resource}.${change}`,
      subject: `${collection}/${String(data.id)}`,
      data,
      isPrivate: this.isPrivate,
      ownerId,
    };
  }

  /** The class of the data of a type; of a deleted resource, only its id is known. */
  viewOf(type: string): Type | undefined {
    return type === `${this.definition.resource}.deleted` ? undefined : this.definition.view;
  }
}

export const defineEvents = <const Change extends string>(definition: Definition<Change>): EventsOf<Change> =>
  new EventsOf(definition);

/** The types of events that modules have registered. */
@Injectable()
export class EventTypes {
  private readonly definitions = new Map<string, EventsOf>();

  /** @throws Error if another definition has one of the types */
  register(definition: EventsOf): void {
    for (const type of definition.types) {
      const isTaken = (this.definitions.get(type) ?? definition) !== definition;
      if (isTaken) throw new Error(`The event ${type} is defined twice; give the resource another name`);
      this.definitions.set(type, definition);
    }
  }

  get all(): readonly string[] {
    return [...this.definitions.keys()];
  }

  /** Whether the changes of an entity have events. */
  haveEntity(entity: Function | string): boolean {
    return [...this.definitions.values()].some((definition) => definition.entity === entity);
  }

  has(type: string): boolean {
    return this.definitions.has(type);
  }

  get views(): Type[] {
    return this.all.map((type) => this.viewOf(type)).filter((view) => view !== undefined);
  }

  viewOf(type: string): Type | undefined {
    return this.definitions.get(type)?.viewOf(type);
  }

  isPrivate(type: string): boolean {
    return this.definitions.get(type)?.isPrivate ?? true;
  }
}
