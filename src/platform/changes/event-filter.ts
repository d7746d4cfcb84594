import type { StoredEvent } from './stored-event.js';

/** The viewer: someone who sees everything, or an account that also sees its own private events (null: none). */
export type Viewer = 'everything' | { readonly accountId: number | null };

/** Selects the events of a consumer. */
export class EventFilter {
  /** Consumers with the same key get the same events. */
  readonly key: string;
  private readonly wanted: ReadonlySet<string> | undefined;

  /** @param types undefined: all */
  constructor(
    readonly viewer: Viewer,
    readonly types?: readonly string[],
  ) {
    this.key = JSON.stringify([viewer, types]);
    this.wanted = types && new Set(types);
  }

  accepts({ type, isPrivate, ownerId }: StoredEvent): boolean {
    if (this.wanted && !this.wanted.has(type)) return false;
    const { viewer } = this;
    return viewer === 'everything' || !isPrivate || (ownerId !== null && ownerId === viewer.accountId);
  }
}

export const EVERY_EVENT = new EventFilter('everything');
