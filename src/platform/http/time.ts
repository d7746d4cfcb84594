import { isRFC3339 } from 'class-validator';

/** The ends of the days that may have a leap second, in UTC. */
const BEFORE_LEAP_SECOND = /-(06-30|12-31)T23:59:59/;

/** The years that both databases and views write with four digits. */
const IN_RANGE = /^(?!0000)\d{4}-/;

/**
 * The time of a text as in RFC 3339, section 5.6; `undefined` for other text, and for a day or a second that does not
 * exist. `Date` has no leap seconds: one counts as the second after it.
 */
export function parseTime(text: string): Date | undefined {
  if (!isRFC3339(text) || !hasDay(text)) return undefined;
  const isLeapSecond = text.startsWith(':60', 'YYYY-MM-DDThh:mm'.length);
  const time = new Date(isLeapSecond ? text.replace(':60', ':59') : text);
  if (Number.isNaN(time.getTime())) return undefined;
  if (isLeapSecond) {
    if (!BEFORE_LEAP_SECOND.test(time.toISOString())) return undefined;
    time.setTime(time.getTime() + 1000);
  }
  return IN_RANGE.test(time.toISOString()) ? time : undefined;
}

/** `Date` takes February 30 for March 2. */
function hasDay(text: string): boolean {
  const day = text.slice(0, 'YYYY-MM-DD'.length);
  return new Date(day).toISOString().startsWith(day);
}
