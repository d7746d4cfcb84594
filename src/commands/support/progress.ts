/** Such as `1 file` and `1,200 files`. */
export const countOf = (count: number, noun: string): string =>
  `${count.toLocaleString('en')} ${noun}${count === 1 ? '' : 's'}`;

/** One line on standard error that is overwritten; without a terminal, a line every two seconds at most. */
export class Progress {
  private readonly started = performance.now();
  private printed = performance.now();

  /** @param total how much there is to do, where that is known; in the same unit as `show` counts */
  constructor(
    private readonly what: string,
    private readonly total?: number,
  ) {}

  show(done: number, counted = done): void {
    const terminal = process.stderr.isTTY;
    if (performance.now() - this.printed < (terminal ? 100 : 2000)) return;
    this.printed = performance.now();
    process.stderr.write(terminal ? `\r\x1b[2K${this.line(done, counted)}` : `${this.line(done, counted)}\n`);
  }

  /** Clears the line. @returns seconds since the start */
  end(): number {
    if (process.stderr.isTTY) process.stderr.write('\r\x1b[2K');
    return (performance.now() - this.started) / 1000;
  }

  private line(done: number, counted: number): string {
    const seconds = (performance.now() - this.started) / 1000;
    const rate = `${Math.round(counted / Math.max(seconds, 0.001)).toLocaleString('en')}/s`;
    const count = `${counted.toLocaleString('en')} ${this.what}, ${rate}`;
    if (!this.total || done === 0) return count;
    const share = Math.min(done / this.total, 1);
    const bar = '█'.repeat(Math.round(share * 30)).padEnd(30, '░');
    return `${bar} ${Math.floor(share * 100)} %  ${count}, ${Math.ceil((seconds / share) * (1 - share))} s left`;
  }
}
