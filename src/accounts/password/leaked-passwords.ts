import { createHash } from 'node:crypto';
import { Logger } from '@nestjs/common';

/** A password that the service does not report in time is accepted, in milliseconds. */
const TIMEOUT = 1000;

/** A range has about a thousand lines. */
const MAX_BYTES = 256 * 1024;

/**
 * Looks passwords up in a range service of leaked passwords, which gets the first five hexadecimal digits of the SHA-1
 * (k-anonymity) and responds with a line `REST:COUNT` for each password that begins with them.
 */
export class LeakedPasswords {
  private readonly logger = new Logger('Passwords');

  /** @param url of the service, without a slash at the end */
  constructor(private readonly url: string) {}

  async includes(password: string): Promise<boolean> {
    const hash = createHash('sha1').update(password).digest('hex').toUpperCase();
    try {
      const lines = await this.range(hash.slice(0, 5));
      const line = lines.find((each) => each.toUpperCase().startsWith(`${hash.slice(5)}:`));
      // Services pad their responses with lines of the count 0.
      return line !== undefined && Number(line.split(':')[1]) > 0;
    } catch (error) {
      const { name } = error as Error;
      this.logger.warn(`PASSWORD_BREACH_URL does not respond (${name}); passwords are accepted without it`);
      return false;
    }
  }

  private async range(start: string): Promise<string[]> {
    const response = await fetch(`${this.url}/${start}`, {
      signal: AbortSignal.timeout(TIMEOUT),
      redirect: 'error',
      headers: { 'add-padding': 'true' },
    });
    if (!response.ok || !response.body) throw new Error(`Status ${response.status}`);
    let text = '';
    for await (const part of response.body.pipeThrough(new TextDecoderStream())) {
      text += part;
      if (text.length > MAX_BYTES) throw new Error('Too long');
    }
    return text.split(/\r?\n/);
  }
}
