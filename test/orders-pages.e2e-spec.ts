import { readFileSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';
import { startApi } from './support/api.js';
import { describeConsole } from './support/console.js';
import { describeInBrowser } from './support/in-browser.js';
import { logIn } from './support/log-in.js';
import { STORES } from './support/stores.js';

/** Numbers that JavaScript would change. */
const PAYLOAD = '{"price":9.90,"big":9007199254740993,"huge":1e400}';

describeConsole('orders', (of) => {
  it('are read by staff in the console, and by their owner in the account', async () => {
    await of().api.post('/v1/orders', { item: 'Engine' }, { 'idempotency-key': 'engine' });
    const page = await of().open('/admin/#/orders');
    await page.getByRole('link', { name: 'Open' }).first().click();
    await page.getByText('"item": "Engine"').waitFor();

    await page.goto(`${of().url}/account/#/orders`);
    await page.getByText('item: Engine').waitFor();
  });

  it('are shown in the console with their numbers as they were sent, also as they happen', async () => {
    const page = await of().open('/admin/#/events');
    await page.getByText('Live', { exact: true }).waitFor();
    await of().api.post('/v1/orders', PAYLOAD, { 'idempotency-key': 'exact' });
    const event = await page.getByText('order.created').locator('xpath=../..').textContent();
    expect(event).toContain(PAYLOAD);

    await page.goto(`${of().url}/admin/#/orders`);
    await page.getByRole('cell', { name: 'price: 9.90 · big: 9007199254740993 · huge: 1e400' }).waitFor();
    await page.getByRole('link', { name: 'Open' }).first().click();
    const shown = await page.locator('pre').textContent();
    expect(shown!.replaceAll(/\s/g, '')).toBe(PAYLOAD);
  });
});

describeInBrowser((open) => {
  describe.each(STORES)('the orders of an account on %s', (store) => {
    it('are shown and exported with their numbers as they were sent', async () => {
      const api = await startApi(store, { WRITE_ACCESS: 'authenticated' });
      const headers = await api.accounts.logInNew('ada@example.com');
      await api.post('/v1/orders', PAYLOAD, { ...headers, 'idempotency-key': 'exact' });
      const page = await open(`${await api.listen()}/account/#/orders`);
      await logIn(page, 'ada@example.com');
      await page.getByText('price: 9.90 · big: 9007199254740993 · huge: 1e400').waitFor();

      await page.getByRole('link', { name: 'Export and delete' }).click();
      const download = page.waitForEvent('download');
      await page.getByRole('button', { name: 'Export' }).click();
      const text = readFileSync(await (await download).path(), 'utf8');
      expect(text).toContain(`"payload":${PAYLOAD}`);
      await api.stop();
    });
  });
});
