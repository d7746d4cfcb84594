import { it } from '@jest/globals';
import { describeConsole } from './support/console.js';

describeConsole('orders', (of) => {
  it('are read by staff in the console, and by their owner in the account', async () => {
    await of().api.post('/v1/orders', { item: 'Engine' }, { 'idempotency-key': 'engine' });
    const page = await of().open('/admin/#/orders');
    await page.getByRole('link', { name: 'Open' }).first().click();
    await page.getByText('"item": "Engine"').waitFor();

    await page.goto(`${of().url}/account/#/orders`);
    await page.getByText('item: Engine').waitFor();
  });
});
