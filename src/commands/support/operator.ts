import { userInfo } from 'node:os';

/** Who runs a command, for the audit log: the user of the system. In a container, they may have no name. */
export function operator(): string {
  try {
    return `user ${userInfo().username}`;
  } catch {
    return `user ${process.getuid?.() ?? 'unknown'}`;
  }
}
