import { listAll } from './list-all.ts';
import { type Load, PASSWORD } from './load.ts';

/** How many numbers PostgreSQL takes of a sequence in advance: a failover may leave them out. */
const RESERVED = 32;

interface Dummy {
  readonly id: number;
  readonly text: string;
}

/** Compares what is stored with what was acknowledged. */
export class Verification {
  readonly faults: string[] = [];
  private readonly url: string;
  private readonly load: Load;

  constructor(url: string, load: Load) {
    this.url = url;
    this.load = load;
  }

  /** @param failovers how often the sequences may have lost their reserve */
  async dummies(failovers: number): Promise<void> {
    const dummies = await listAll<Dummy>(this.url, '/v1/dummies');
    const stored = new Map<string, number>();
    for (const { id, text } of dummies) {
      if (stored.has(text))
        this.faults.push(`The dummy ${text} was created twice: ${stored.get(text)} and ${id}`);
      if (!this.load.dummies.has(text)) this.faults.push(`Nobody has created the dummy ${id}`);
      stored.set(text, id);
    }
    let lost = 0;
    for (const [text, id] of this.load.dummies) {
      if (id === undefined) lost += stored.has(text) ? 0 : 1;
      else if (stored.get(text) !== id) this.faults.push(`The acknowledged dummy ${id} is lost`);
    }
    const gaps = Math.max(...stored.values()) - stored.size;
    if (gaps > lost + failovers * RESERVED)
      this.faults.push(
        `${gaps} ids are missing, but only ${lost} transactions were lost in ${failovers} failovers`,
      );
    console.log(
      `${dummies.length} dummies, ${gaps} ids left out, ${lost} requests that were not carried out`,
    );
  }

  /** A stub for each key, and the same response to the key as before the faults. */
  async stubs(): Promise<void> {
    const reply = (await (await fetch(`${this.url}/v1/stubs`)).json()) as { meta: { total: number } };
    const { size } = this.load.stubs;
    if (reply.meta.total !== size) this.faults.push(`There are ${reply.meta.total} stubs for ${size} keys`);
    for (const [request, stub] of this.load.stubs) {
      const { id } = JSON.parse(stub).data as { id: number };
      const found = await (await fetch(`${this.url}/v1/stubs/${id}`)).text();
      const replay = await this.load.sendStub(request);
      if (found !== stub || replay !== stub)
        this.faults.push(`The key ${request.key} gave ${stub}, now ${replay}; stored is ${found}`);
    }
    console.log(`${size} stubs, one for each key, which gives it again`);
  }

  /**
   * All acknowledged accounts are stored, and some of them log in: a login takes long.
   *
   * @param stored e-mail addresses
   */
  async accounts(stored: ReadonlySet<string>, count = 40): Promise<void> {
    const { accounts } = this.load;
    for (const email of accounts)
      if (!stored.has(email)) this.faults.push(`The acknowledged account ${email} is lost`);
    for (let n = 0; n < count; n++) {
      const email = accounts[Math.floor((n / count) * accounts.length)]!;
      const body = JSON.stringify({ email, password: PASSWORD });
      const headers = { 'content-type': 'application/json' };
      const { status } = await fetch(`${this.url}/auth/login/`, { method: 'POST', headers, body });
      if (status !== 200) this.faults.push(`The account ${email} got ${status} at its login`);
    }
    console.log(`${accounts.length} accounts, ${count} of them logged in`);
  }
}
