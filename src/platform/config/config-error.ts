/** A missing or invalid setting. The message names it and never contains its value. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError';
}
