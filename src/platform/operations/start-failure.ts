import { DataTypeNotSupportedError } from 'typeorm';
import { ConfigError } from '../config/config-error.js';
import { WORKS_ON_BOTH } from '../config/package.js';
import { DatabaseError, isRejectedLogin, lacksPrivilege } from '../database/failures.js';
import { AppError } from '../http/errors/errors.js';

interface SystemError extends Error {
  readonly code?: string;
  readonly syscall?: string;
}

/** The remedy for a data folder that SQLite or Node cannot use, by error code. */
const STORAGE_ADVICE: readonly (readonly [RegExp, string])[] = [
  [/^(SQLITE_FULL|ENOSPC|EDQUOT)/, 'free some space on its disk'],
  [/^(SQLITE_READONLY|SQLITE_PERM|EROFS|EACCES|EPERM)/, 'the service must be able to write there'],
  [
    /^(SQLITE_CORRUPT|SQLITE_NOTADB)/,
    'the database file is damaged: restore a backup, or move the file away',
  ],
  [/^(SQLITE_CANTOPEN|SQLITE_IOERR|ENOTDIR|EIO)/, 'check the folder and its disk'],
];

/** The error of `node-gyp-build` for a package without a binary for this platform, such as macOS on x64. */
const NO_BINARY = /^No native build was found for (?<target>.+)\s+loaded from: .*?(?<name>[\w-]+)\s*$/;

const RIGHTS =
  'its role needs all rights on the tables, and CREATE on the schema (GRANT CREATE ON SCHEMA public TO …) for migrations';

/** The text for a service or a command that cannot start: a sentence if the cause is known, else the stack. */
export function explainStartFailure(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  if ([ConfigError, DatabaseError, AppError].some((type) => error instanceof type)) return error.message;

  const { code = '', syscall = '', message } = error as SystemError;
  const { target, name } = NO_BINARY.exec(message)?.groups ?? {};
  if (name !== undefined) {
    return `The package ${name} has no binary for ${target}; compile it, which needs a C++ compiler and Python: npm rebuild ${name} --build-from-source --ignore-scripts=false`;
  }
  if (syscall === 'listen' && code === 'EADDRINUSE') {
    return `HOST and PORT cannot be used: another process listens there (${message})`;
  }
  if (syscall === 'listen' || (syscall === 'getaddrinfo' && !/postgres/i.test(error.stack ?? ''))) {
    return `HOST and PORT cannot be used: ${message}`;
  }
  if (code.startsWith('ERR_PARSE_ARGS')) return message;
  if (error instanceof DataTypeNotSupportedError) return `${message}\n${WORKS_ON_BOTH}`;
  if (lacksPrivilege(error)) {
    return `DATABASE_URL cannot be used: ${message}; ${RIGHTS}`;
  }
  if (isRejectedLogin(error)) return `DATABASE_URL is rejected by the server: ${message}`;
  if (syscall === 'connect' || syscall === 'getaddrinfo') return `DATABASE_URL cannot be reached: ${message}`;
  const [, advice] = STORAGE_ADVICE.find(([codes]) => codes.test(code)) ?? [];
  if (advice !== undefined) return `DATA_DIR cannot be used: ${message}; ${advice}`;
  return error.stack ?? message;
}
