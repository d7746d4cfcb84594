import type { StoredEvent } from './stored-event.js';

/** Who looks: someone who sees everything, or an account that sees its own private events, or nobody's. */
export type Viewer = 'everything' | { readonly accountId: number | null };

/** Which events a consumer gets. */
export class EventFilter {
  /** Consumers with the same key get the same events. */
  readonly key: string;
  private readonly wanted: ReadonlySet<string> | undefined;

  /** @param types absent: all of them */
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
