/** The positions of an epoch, and where the log begins and ends. */
export interface EpochRange {
  readonly first: number;
  /** The first position of the epoch after it. */
  readonly next: number | null;
  readonly isCurrent: boolean | number;
  /** Whether the first event that is kept at or after `first` is its own; epochs that gave no ids share it with the next. */
  readonly hasFirst: boolean | number | null;
  readonly last: number;
  /** Of the events that are kept. */
  readonly oldest: number | null;
}

/** Whether no event had the position, which none has now. Positions that a lost server has given out look like gone. */
export function wasNeverGiven(
  position: number,
  { first, next, isCurrent, hasFirst, last, oldest }: EpochRange,
): boolean {
  if (position < first || (isCurrent && position > last)) return true;
  const isOfThisLog = isCurrent || (hasFirst && next !== null && position < next);
  // Events are purged from the start: one that is missing after the oldest is a gap between positions.
  return Boolean(isOfThisLog) && oldest !== null && position > oldest;
}
