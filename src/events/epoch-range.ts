/** The positions of an epoch, and of the log. */
export interface EpochRange {
  readonly first: number;
  /** The first position of the next epoch. */
  readonly next: number | null;
  readonly isCurrent: boolean | number;
  /** Whether the oldest kept event at or after `first` belongs to it; an epoch without ids shares it with the next. */
  readonly hasFirst: boolean | number | null;
  readonly last: number;
  /** Of the kept events. */
  readonly oldest: number | null;
}

/** Whether no event ever had the position. Positions that a lost server has given out count as given. */
export function wasNeverGiven(
  position: number,
  { first, next, isCurrent, hasFirst, last, oldest }: EpochRange,
): boolean {
  if (position < first || (isCurrent && position > last)) return true;
  const isOfThisLog = isCurrent || (hasFirst && next !== null && position < next);
  // Events are purged from the start: a missing position after the oldest event is a gap.
  return Boolean(isOfThisLog) && oldest !== null && position > oldest;
}
