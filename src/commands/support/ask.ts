import { once } from 'node:events';
import { createInterface } from 'node:readline/promises';
import { text } from 'node:stream/consumers';
import promptPassword from '@inquirer/password';
import { ConfigError } from '../../platform/config/config-error.js';

/** An error of the user, such as a wrong flag; printed without a stack. */
export class UsageError extends ConfigError {}

/** Prompts for a line on a terminal. @throws UsageError that names the flag, without a terminal */
export async function askFor(label: string, flag: string): Promise<string> {
  if (!process.stdin.isTTY) throw new UsageError(`${flag} is missing`);
  return prompt(`${label}: `);
}

/**
 * Asks a question, which a script answers with `y` in a line of standard input.
 *
 * @param yes whether the answer was given already, with `--yes`
 * @throws UsageError unless the answer is yes
 */
export async function confirm(question: string, yes: boolean): Promise<void> {
  if (yes) return;
  const label = `${question} (y/N) `;
  if (!process.stdin.isTTY) process.stderr.write(`${label}\n`);
  const answer = process.stdin.isTTY ? await prompt(label) : await readLine();
  if (!/^\s*y(es)?\s*$/i.test(answer)) {
    throw new UsageError('Cancelled, nothing was changed; answer y, or pass --yes to skip the question');
  }
}

/** Prompts for a new password twice, without showing it; a script passes it as the next line of standard input. */
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

async function prompt(label: string): Promise<string> {
  const terminal = createInterface({ input: process.stdin, output: process.stderr });
  try {
    return await Promise.race([terminal.question(label).catch(cancel), once(terminal, 'close').then(cancel)]);
  } finally {
    terminal.close();
  }
}

/** Reads a line of standard input, and leaves what follows it to the next reader. */
async function readLine(): Promise<string> {
  const { stdin } = process;
  let line = '';
  for await (const chunk of stdin.iterator({ destroyOnReturn: false })) {
    const part = String(chunk);
    const end = part.indexOf('\n');
    if (end === -1) {
      line += part;
      continue;
    }
    const rest = part.slice(end + 1);
    if (rest !== '') stdin.unshift(Buffer.from(rest));
    return line + part.slice(0, end);
  }
  return line;
}

/** Ctrl-C at a prompt. */
function cancel(): never {
  throw new UsageError('Cancelled');
}
