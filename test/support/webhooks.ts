import { bearer } from './accounts.js';
import { created, type Reply, type TestApi } from './api.js';
import type { Receiver } from './receiver.js';
import { until } from './until.js';

/** A webhook as it was created, with the path of its URL. */
export interface TestWebhook {
  readonly id: number;
  readonly path: string;
  readonly secret: string;
}

/** Calls the API of webhooks as a member of staff. The webhooks deliver to one receiver. */
export class Webhooks {
  private static paths = 0;

  private constructor(
    private readonly api: TestApi,
    private readonly receiver: Receiver,
    /** Headers with an API key, because a token expires when a test moves the clock. */
    readonly staff: Record<string, string>,
  ) {}

  /** Registers `staff@example.com`, whose calls `staff` makes. */
  static async of(api: TestApi, receiver: Receiver): Promise<Webhooks> {
    const headers = await api.accounts.logInNewStaff();
    const { key } = created(await api.post('/auth/api-keys/', { name: 'Webhooks', scope: 'write' }, headers));
    return new Webhooks(api, receiver, bearer(key));
  }

  /** Creates a webhook for one type of event, with a path of its own unless the fields have a URL. */
  async create(fields: object = {}): Promise<TestWebhook> {
    const url = `${this.receiver.url}/${++Webhooks.paths}`;
    const body = { url, types: ['dummy.created'], ...fields };
    const webhook = created(await this.api.post('/v1/webhooks', body, this.staff));
    // Events are looked at again after a poll, if there was no active webhook.
    this.api.wakeJobs();
    return { ...webhook, path: new URL(webhook.url).pathname };
  }

  async read(webhook: TestWebhook): Promise<any> {
    return (await this.api.get(pathOf(webhook), this.staff)).body.data;
  }

  async change(webhook: TestWebhook, changes: object): Promise<Reply> {
    const reply = await this.api.patch(pathOf(webhook), changes, this.staff);
    this.api.wakeJobs();
    return reply;
  }

  rotateSecret(webhook: TestWebhook): Promise<Reply> {
    return this.api.post(`${pathOf(webhook)}/rotate-secret`, {}, this.staff);
  }

  sendTest(webhook: TestWebhook): Promise<Reply> {
    return this.api.post(`${pathOf(webhook)}/test`, {}, this.staff);
  }

  redeliver(webhook: TestWebhook, id: number): Promise<Reply> {
    return this.api.post(`${pathOf(webhook)}/deliveries/${id}/redeliver`, {}, this.staff);
  }

  async deliveries(webhook: TestWebhook, query = ''): Promise<any[]> {
    return (await this.api.get(`${pathOf(webhook)}/deliveries${query}`, this.staff)).body.data;
  }

  /** Waits for a state of the newest delivery, and returns it. */
  async untilNewest(webhook: TestWebhook, what: string, isReached: (newest: any) => boolean): Promise<any> {
    let newest: any;
    await until(`the newest delivery ${what}`, async () => {
      [newest] = await this.deliveries(webhook);
      return newest !== undefined && isReached(newest);
    });
    return newest;
  }

  untilStatus(webhook: TestWebhook, status: string, attempts: number): Promise<any> {
    const isReached = (newest: any) => newest.status === status && newest.attempts === attempts;
    return this.untilNewest(webhook, `is ${status} after ${attempts} attempts`, isReached);
  }

  /** Waits until the newest delivery has an error, and returns it. */
  untilError(webhook: TestWebhook): Promise<any> {
    return this.untilNewest(webhook, 'has an error', ({ error }) => error !== null);
  }

  /** Since when every attempt has failed, which the API does not show. */
  async failingSince(webhook: TestWebhook): Promise<unknown> {
    const sql = 'SELECT failing_since AS since FROM webhooks WHERE id = :id';
    return (await this.api.rows.one<{ since: unknown }>(sql, { id: webhook.id }))!.since;
  }

  /** Deletes all webhooks, so that the events of the next test are delivered to its own. */
  async removeAll(): Promise<void> {
    const { data } = (await this.api.get('/v1/webhooks?limit=100', this.staff)).body;
    for (const webhook of data) {
      const { status, text } = await this.api.delete(pathOf(webhook), this.staff);
      if (status !== 204) throw new Error(`A webhook was not deleted: ${text}`);
    }
  }
}

export const pathOf = ({ id }: { readonly id: number }): string => `/v1/webhooks/${id}`;
