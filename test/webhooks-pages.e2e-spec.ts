import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { confirm, describeConsole } from './support/console.js';
import { type Delivered, Receiver, respond } from './support/receiver.js';
import { until } from './support/until.js';

describeConsole('the webhooks of the console', (of) => {
  let receiver: Receiver;
  beforeAll(async () => {
    receiver = await new Receiver().start();
  });
  afterAll(() => receiver.stop());

  it('creates a webhook, finds its failing delivery, and delivers it again', async () => {
    const page = await of().open('/admin/#/webhooks/create');
    receiver.behaviour = respond(500);
    await page.getByLabel('URL').fill(`${receiver.url}/hook`);
    await page.getByRole('button', { name: 'Save' }).click();
    const secret = await page.getByLabel('Secret').inputValue();
    expect(secret).toMatch(/^whsec_/);
    await page.getByRole('button', { name: 'I have stored it' }).click();
    for (let n = 1; n <= 3; n++) {
      await page.getByRole('button', { name: 'Send a test event' }).click();
      await receiver.at('/hook', n);
    }

    // The list shows which one fails.
    await page.getByRole('menuitem', { name: 'Webhooks' }).click();
    const listed = page.getByRole('row').filter({ hasText: `${receiver.url}/hook` });
    await listed.getByText('500').waitFor();
    await listed.getByRole('link', { name: 'Open' }).click();

    const deliveries = page.getByRole('region', { name: 'Deliveries' });
    const select = async (status: string) => {
      await deliveries.getByLabel('Status').click();
      await page.getByRole('option', { name: status }).click();
    };
    await select('pending');
    const rows = deliveries.getByRole('row').filter({ hasText: 'webhook.test' });
    await rows.nth(2).getByText('500').waitFor();
    const idOf = ({ headers }: Delivered) => headers['webhook-id'];
    const middle = idOf((await receiver.at('/hook', 3))[1]!);
    receiver.behaviour = (response, delivered) =>
      respond(idOf(delivered) === middle ? 204 : 500)(response, delivered);
    await rows
      .nth(1)
      .getByRole('button', { name: /^Redeliver/ })
      .click();
    await until(
      'it is delivered',
      () => receiver.delivered.filter((each) => idOf(each) === middle).length === 2,
    );
    await rows.nth(2).waitFor({ state: 'detached' });
    await rows.nth(1).waitFor();
    await select('failed');
    await deliveries.getByText('There are none.').waitFor();
    await select('delivered');
    await rows.getByText('204').waitFor();

    await page.getByRole('button', { name: 'Rotate the secret' }).click();
    await confirm(page, 'Rotate');
    expect(await page.getByLabel('Secret').inputValue()).not.toBe(secret);
  });
});
