/** How many errors are printed; further ones are only counted. */
const PRINTED = 20;

/** What an import does not accept: the first errors are printed at once, all are counted by their reason. */
export class Rejections {
  private readonly counts = new Map<string, number>();
  private total = 0;

  get any(): boolean {
    return this.total > 0;
  }

  /** @param where as in `Candidate` */
  add(where: string, reason: string): void {
    this.counts.set(reason, (this.counts.get(reason) ?? 0) + 1);
    this.total++;
    if (this.total <= PRINTED) console.error(`${where}: ${reason}`);
    if (this.total === PRINTED + 1) console.error('… further errors are counted below');
  }

  summarize(): void {
    for (const [reason, count] of this.counts) console.log(`${count} rejected: ${reason}`);
  }
}
