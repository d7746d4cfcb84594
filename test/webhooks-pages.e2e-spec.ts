import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { confirm, describeConsole } from './support/console.js';
import { Receiver, respond } from './support/receiver.js';

describeConsole('the webhooks of the console', (of) => {
  let receiver: Receiver;
  beforeAll(async () => {
    receiver = await Receiver.start();
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
    await page.getByRole('button', { name: 'Send a test event' }).click();
    await receiver.at('/hook', 1);

    // The list shows which one fails.
    await page.getByRole('menuitem', { name: 'Webhooks' }).click();
    const listed = page.getByRole('row').filter({ hasText: `${receiver.url}/hook` });
    await listed.getByText('500').waitFor();
    await listed.getByRole('link', { name: 'Open' }).click();

    const deliveries = page.getByRole('region', { name: 'Deliveries' });
    await deliveries.getByLabel('Status').click();
    await page.getByRole('option', { name: 'pending' }).click();
    const row = deliveries.getByRole('row').filter({ hasText: 'webhook.test' });
    await row.getByText('500').waitFor();
    receiver.behaviour = respond(204);
    await row.getByRole('button', { name: /^Redeliver/ }).click();
    await receiver.at('/hook', 2);
    await deliveries.getByText('There are none.').waitFor();
    await deliveries.getByLabel('Status').click();
    await page.getByRole('option', { name: 'delivered' }).click();
    await row.getByText('204').waitFor();

    await page.getByRole('button', { name: 'Rotate the secret' }).click();
    await confirm(page, 'Rotate');
    expect(await page.getByLabel('Secret').inputValue()).not.toBe(secret);
  });
});
