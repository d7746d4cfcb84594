const SECOND = 1000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/** The delay before each further attempt, in milliseconds; up to a tenth is added. */
const DELAYS = [5 * SECOND, 5 * MINUTE, 30 * MINUTE, 2 * HOUR, 5 * HOUR, 10 * HOUR, 14 * HOUR, 20 * HOUR];
const JITTER = 0.1;

/** How long all attempts must have failed before a webhook is deactivated, in milliseconds. */
const MAX_FAILING = 5 * DAY;

/** The time of the next attempt after some failed ones; null after the last. */
export function nextAttempt(attempts: number, now: Date): Date | null {
  const delay = DELAYS[attempts - 1];
  return delay === undefined ? null : new Date(now.getTime() + delay * (1 + Math.random() * JITTER));
}

export const isFailingForGood = (since: Date, now: Date): boolean =>
  now.getTime() - since.getTime() >= MAX_FAILING;
