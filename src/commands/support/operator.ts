import { userInfo } from 'node:os';
import type { INestApplicationContext } from '@nestjs/common';
import { Changes } from '../../platform/changes/index.js';

/** Makes the changes of a command those of the user of the system who runs it. */
export const recordAsOperator = (context: INestApplicationContext, command: string): void =>
  context.get(Changes, { strict: false }).recordAsCommand(command, operator());

/** In a container, the user may have no name. */
function operator(): string {
  try {
    return `user ${userInfo().username}`;
  } catch {
    return `user ${process.getuid?.() ?? 'unknown'}`;
  }
}
