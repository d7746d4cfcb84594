import { userInfo } from 'node:os';

/** The user of the system who runs a command, for the audit log. In a container, the user may have no name. */
export function operator(): string {
  try {
    return `user ${userInfo().username}`;
  } catch {
    return `user ${process.getuid?.() ?? 'unknown'}`;
  }
}
