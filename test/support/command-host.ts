/**
 * Runs the commands of the build one after the other in one process, so that their modules load only once. Only the
 * script of a command is evaluated each time, with its arguments, environment and streams.
 */
import { Readable } from 'node:stream';
import { pathToFileURL } from 'node:url';

export interface CommandCall {
  readonly name: string;
  readonly parameters: readonly string[];
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly input: string;
}

export interface CommandResult {
  readonly code: number;
  /** Standard output and standard error, in the order of the writes. */
  readonly output: string;
}

class Exit extends Error {
  readonly code: number;

  constructor(code: number) {
    super(`Exit with ${code}`);
    this.code = code;
  }
}

let runs = 0;

/** The exit code that the script has set. */
const exitCode = (): number => Number(process.exitCode ?? 0);

async function run({ name, parameters, environment, input }: CommandCall): Promise<CommandResult> {
  let output = '';
  const write = (chunk: string | Uint8Array): boolean => {
    output += typeof chunk === 'string' ? chunk : Buffer.from(chunk).toString();
    return true;
  };
  const script = pathToFileURL(`dist/commands/${name}.js`);
  const given = Object.entries(environment).filter(([, value]) => value !== undefined);
  process.env = Object.fromEntries(given);
  process.argv = [process.execPath, script.pathname, ...parameters];
  process.stdout.write = write;
  process.stderr.write = write;
  Object.defineProperty(process, 'stdin', { value: Readable.from([Buffer.from(input)]), configurable: true });
  process.exitCode = undefined;
  process.exit = (code) => {
    throw new Exit(code === undefined ? exitCode() : Number(code));
  };
  runs++;
  try {
    await import(`${script.href}?run=${runs}`);
    return { code: exitCode(), output };
  } catch (error) {
    if (error instanceof Exit) return { code: error.code, output };
    return { code: 1, output: `${output}${(error as Error).stack}\n` };
  } finally {
    process.removeAllListeners('SIGINT');
    process.exitCode = undefined;
  }
}

const end = process.exit.bind(process);
process.once('disconnect', () => end(0));
process.on('message', (call: CommandCall) => void run(call).then((result) => process.send!(result)));
