import { once } from 'node:events';
import { createInterface } from 'node:readline/promises';
import { text } from 'node:stream/consumers';
import promptPassword from '@inquirer/password';
import { UsageError } from './run-command.js';

/** Prompts for a line on a terminal. @throws UsageError that names the flag, without a terminal */
export async function askFor(label: string, flag: string): Promise<string> {
  if (!process.stdin.isTTY) throw new UsageError(`${flag} is missing`);
  const prompt = createInterface({ input: process.stdin, output: process.stderr });
  try {
    return await Promise.race([prompt.question(`${label}: `), once(prompt, 'close').then(cancel)]);
  } finally {
    prompt.close();
  }
}

/** Prompts for a new password twice, without showing it; a script passes it as the first line of standard input. */
export async function askForPassword(): Promise<string> {
  if (!process.stdin.isTTY) {
    const [line = ''] = (await text(process.stdin)).split(/\r?\n/, 1);
    return line;
  }
  const streams = { output: process.stderr };
  const password = await promptPassword({ message: 'Password' }, streams).catch(cancel);
  const again = await promptPassword({ message: 'Repeat the password' }, streams).catch(cancel);
  if (password !== again) throw new UsageError('The passwords are not the same');
  return password;
}

/** Ctrl-C at a prompt. */
function cancel(): never {
  throw new UsageError('Cancelled');
}
