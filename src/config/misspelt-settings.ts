import { fileSetting, SECRETS } from './secret-files.js';

/** Shorter names are close to too many others, such as `PORT` to `POST`. */
const MIN_LENGTH = 8;

const MAX_EDITS = 2;

/**
 * A sentence for each variable that is set, is no setting, and has almost the name of one, such as `DATABSE_URL`.
 *
 * @param settings the names of the settings
 */
export function misspeltSettings(environment: NodeJS.ProcessEnv, settings: readonly string[]): string[] {
  const names = [...settings, ...SECRETS.map(fileSetting)];
  const known = new Set(names);
  return Object.entries(environment).flatMap(([variable, value]) => {
    if (!value || variable.length < MIN_LENGTH || known.has(variable)) return [];
    const meant = names.find((name) => isClose(variable, name));
    return meant === undefined ? [] : [`${variable} is no setting; did you mean ${meant}?`];
  });
}

function isClose(a: string, b: string): boolean {
  return Math.abs(a.length - b.length) <= MAX_EDITS && distance(a, b) <= MAX_EDITS;
}

/** The Levenshtein distance, in insertions, deletions and replacements. */
function distance(a: string, b: string): number {
  let above = Array.from({ length: b.length + 1 }, (_, n) => n);
  for (let i = 1; i <= a.length; i++) {
    const row = [i];
    for (let j = 1; j <= b.length; j++) {
      const replaced = above[j - 1]! + (a[i - 1] === b[j - 1] ? 0 : 1);
      row.push(Math.min(replaced, above[j]! + 1, row[j - 1]! + 1));
    }
    above = row;
  }
  return above[b.length]!;
}
