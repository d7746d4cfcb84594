import { readFileSync } from 'node:fs';
import { z } from 'zod';
import { ConfigError } from './config-error.js';

/** A variable of the environment, and what its text becomes. */
export interface Setting<T> {
  readonly variable: string;
  readonly rule: z.ZodType<T>;
  /** Whether its value is a secret, which may be in the file that `…_FILE` names, as orchestrators mount secrets. */
  readonly isSecret: boolean;
}

/** Settings by the properties that they become. */
export type Settings = { readonly [property: string]: Setting<any> | Settings };

/** The properties that settings become. */
export type ValuesOf<S> = {
  readonly [P in keyof S]: S[P] extends Setting<infer T> ? T : ValuesOf<S[P]>;
};

type Environment = Readonly<Record<string, string | undefined>>;

export const setting = <T>(variable: string, rule: z.ZodType<T>): Setting<T> => ({
  variable,
  rule,
  isSecret: false,
});

export const secret = <T>(variable: string, rule: z.ZodType<T>): Setting<T> => ({
  variable,
  rule,
  isSecret: true,
});

export const text = () => z.string();

/** Text for which a condition holds; the sentence says what the setting must be. */
export const textThat = (holds: (value: string) => boolean, error: string) => text().refine(holds, { error });

export function wholeNumber(min: number, max: number) {
  const error = `must be a whole number from ${min} to ${max}`;
  return text()
    .regex(/^\d{1,9}$/, { error, abort: true })
    .transform(Number)
    .refine((n) => n >= min && n <= max, { error });
}

/** @param missing the sentence for a setting without a value, if it is required */
export const oneOf = <const T extends readonly [string, ...string[]]>(values: T, missing?: string) =>
  z.enum(values, {
    error: ({ input }) => (input === undefined && missing) || `must be one of ${values.join(', ')}`,
  });

/** `on` or `off`. */
export const onOff = (otherwise: boolean) =>
  oneOf(['on', 'off'])
    .default(otherwise ? 'on' : 'off')
    .transform((value) => value === 'on');

export const list = (isItem: (value: string) => boolean, error: string) =>
  text()
    .transform((items) => items.split(',').map((item) => item.trim()))
    .refine((items) => items.every(isItem), { error })
    .transform((items): readonly string[] => items);

/**
 * Reads settings. An empty variable counts as absent.
 *
 * @returns the values, and a sentence for each fault, which never shows a value
 */
export function read<S extends Settings>(
  settings: S,
  environment: Environment,
): { readonly values: ValuesOf<S>; readonly faults: string[] } {
  const faults: string[] = [];
  const values = Object.entries(settings).map(([property, part]): [string, unknown] => {
    const found = isSetting(part) ? readOne(part, environment) : read(part, environment);
    faults.push(...found.faults);
    return [property, 'values' in found ? found.values : found.value];
  });
  return { values: Object.freeze(Object.fromEntries(values)) as ValuesOf<S>, faults };
}

/** @returns every variable of settings, secrets also with the file that may hold them */
export const variablesOf = (settings: Settings): string[] =>
  Object.values(settings).flatMap((part) => {
    if (!isSetting(part)) return variablesOf(part);
    return part.isSecret ? [part.variable, `${part.variable}_FILE`] : [part.variable];
  });

/** The text of a setting; `undefined` if it has none or its file cannot be read. */
export const rawOf = ({ variable }: Setting<unknown>, environment: Environment): string | undefined =>
  textOf(variable, environment).text;

export const unusable = (faults: readonly string[]) =>
  new ConfigError(`Invalid configuration:\n${faults.map((line) => `  ${line}`).join('\n')}`);

const isSetting = (part: Setting<any> | Settings): part is Setting<any> => part['rule'] instanceof z.ZodType;

function readOne({ variable, rule, isSecret }: Setting<unknown>, environment: Environment) {
  const { text: found, fault } = isSecret
    ? textOf(variable, environment)
    : { text: environment[variable] || undefined };
  if (fault !== undefined) return { value: undefined, faults: [fault] };
  const { data, error } = rule.safeParse(found);
  return {
    value: Array.isArray(data) ? Object.freeze(data) : data,
    faults: error?.issues.map(({ message }) => `${variable} ${message}`) ?? [],
  };
}

/** The text of a secret, from the environment or its file. */
function textOf(variable: string, environment: Environment): { text?: string | undefined; fault?: string } {
  const value = environment[variable] || undefined;
  const file = environment[`${variable}_FILE`];
  if (!file) return { text: value };
  if (value !== undefined) return { fault: `${variable}_FILE must not be set together with ${variable}` };
  try {
    // Editors and `echo` end a file with a line break, and some begin it with a byte order mark: neither is of the secret.
    const content = readFileSync(file, 'utf8').replaceAll(/^\uFEFF|\r?\n$/g, '');
    return content === '' ? { fault: `${variable}_FILE must not be empty` } : { text: content };
  } catch (error) {
    // The path is not shown: it may be the secret itself, set by mistake.
    const { code } = error as NodeJS.ErrnoException;
    return { fault: `${variable}_FILE must be a file that can be read (${code})` };
  }
}
