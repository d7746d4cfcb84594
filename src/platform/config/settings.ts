import { z } from 'zod';
import { ConfigError } from './config-error.js';

// Shared by the files that load settings.

export const text = () => z.string();

export const wholeNumber = (min: number, max: number) =>
  text()
    .regex(/^\d{1,9}$/, { error: `must be a whole number from ${min} to ${max}`, abort: true })
    .transform(Number)
    .refine((n) => n >= min && n <= max, { error: `must be a whole number from ${min} to ${max}` });

export const oneOf = <const T extends readonly [string, ...string[]]>(values: T) =>
  z.enum(values, { error: `must be one of ${values.join(', ')}` });

/** An address that may be extended with a path. */
export const isBaseUrl = (value: string): boolean =>
  URL.canParse(value) && /^https?:$/.test(new URL(value).protocol) && !/[?#]/.test(value);

/** Validates settings by a schema. An empty variable counts as absent. @returns an error for each invalid setting */
export function parse<T extends z.ZodType>(schema: T, environment: NodeJS.ProcessEnv) {
  const set = Object.fromEntries(Object.entries(environment).filter(([, value]) => value !== ''));
  const { data, error } = schema.safeParse(set);
  return { data, faults: error?.issues.map(({ path, message }) => `${path.join('.')} ${message}`) ?? [] };
}

export const unusable = (faults: readonly string[]) =>
  new ConfigError(`Invalid configuration:\n${faults.map((line) => `  ${line}`).join('\n')}`);
