/** A setting is missing or wrong. The message names it and never shows its value. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError';
}
