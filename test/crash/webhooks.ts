import { execFile } from 'node:child_process';
import { environmentOfProcess } from '../support/environment.ts';
import { Receiver } from '../support/receiver.ts';
import type { Service } from '../support/service.ts';
import { until } from '../support/until.ts';

const STAFF = { email: 'events@example.com', password: 'crash test password' };

/** In milliseconds: a delivery in flight when the service is killed is retried after its lease. */
const TIMEOUT = 90_000;

/** A webhook that receives each event, whenever the service is killed. */
export class Webhooks {
  private readonly receiver: Receiver;

  private constructor(receiver: Receiver) {
    this.receiver = receiver;
  }

  static async start(
    service: Pick<Service, 'fetch'>,
    environment: Readonly<Record<string, string>>,
  ): Promise<Webhooks> {
    await createStaff(environment);
    const receiver = await new Receiver().start();
    const login = await service.fetch('/auth/login/', {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(STAFF),
    });
    const { access } = (await login.json()) as { access: string };
    const reply = await service.fetch('/v1/webhooks', {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: `Bearer ${access}` },
      body: JSON.stringify({ url: `${receiver.url}/`, types: ['*'] }),
    });
    if (reply.status !== 201) throw new Error(`The webhook was not created: ${reply.status}`);
    return new Webhooks(receiver);
  }

  /** @param ids of all events @throws Error when one is missing, or something else was delivered */
  async verify(ids: ReadonlySet<string>): Promise<void> {
    const delivered = () => new Set(this.receiver.delivered.map(({ headers }) => headers['webhook-id']));
    const isComplete = () => {
      const found = delivered();
      return [...ids].every((id) => found.has(id));
    };
    await until('every event was delivered', isComplete, TIMEOUT);
    if (delivered().size > ids.size) throw new Error('Something other than an event was delivered');
    console.log(`${ids.size} events, all delivered`);
  }

  async stop(): Promise<void> {
    await this.receiver.stop();
  }
}

function createStaff(environment: Readonly<Record<string, string>>): Promise<void> {
  return new Promise((resolve, reject) => {
    const child = execFile(
      process.execPath,
      ['dist/commands/account.js', 'create-superuser', '--email', STAFF.email, '--name', 'Events'],
      { env: { ...environmentOfProcess(), ...environment } },
      (error) => (error ? reject(error) : resolve()),
    );
    child.stdin!.end(`${STAFF.password}\n`);
  });
}
