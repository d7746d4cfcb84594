import { readFileSync } from 'node:fs';

/** Settings with a secret. Each can be read from the file in `NAME_FILE`, as orchestrators mount secrets. */
const SECRETS: readonly string[] = [
  'JWT_SECRET',
  'JWT_SECRET_PREVIOUS',
  'JWT_PRIVATE_KEY',
  'JWT_PRIVATE_KEY_PREVIOUS',
  'ENCRYPTION_KEY',
  'ENCRYPTION_KEY_PREVIOUS',
  'DATABASE_URL',
  'SMTP_URL',
  'REDIS_URL',
  'GOOGLE_CLIENT_SECRET',
  'GITHUB_CLIENT_SECRET',
];

/** The setting that names the file of a secret. */
const fileSetting = (name: string): string => `${name}_FILE`;

/** The environment with the content of the `…_FILE` settings, and an error for each file that cannot be used. */
export function readSecretFiles(environment: NodeJS.ProcessEnv): {
  readonly environment: NodeJS.ProcessEnv;
  readonly faults: readonly string[];
} {
  const read: NodeJS.ProcessEnv = { ...environment };
  const faults: string[] = [];
  for (const name of SECRETS) {
    const file = environment[fileSetting(name)];
    if (!file) continue;
    if (environment[name]) {
      faults.push(`${name}_FILE must not be set together with ${name}`);
      continue;
    }
    try {
      // Editors and `echo` end a file with a line break, which is not part of the secret.
      read[name] = readFileSync(file, 'utf8').replace(/\r?\n$/, '');
      if (read[name] === '') faults.push(`${name}_FILE must not be empty`);
    } catch (error) {
      // The path is not shown: it may be the secret itself, set by mistake.
      faults.push(`${name}_FILE must be a file that can be read (${(error as NodeJS.ErrnoException).code})`);
    }
  }
  return { environment: read, faults };
}
