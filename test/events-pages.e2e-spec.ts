import { expect, it } from '@jest/globals';
import { describeConsole } from './support/console.js';
import { postsOf } from './support/posts.js';

describeConsole('the events of the console', (of) => {
  it('shows events as they happen, those of a type only if one is chosen', async () => {
    const page = await of().open('/admin/#/events');
    await page.getByText('Live', { exact: true }).waitFor();
    await postsOf(of().api).create({ title: 'Seen at once' });
    const events = page.getByRole('list', { name: 'Events' });
    await events
      .getByText(/^post\.created/)
      .first()
      .waitFor();
    await page.getByLabel('Types').fill('user.created');
    await page.getByRole('option', { name: 'user.created' }).click();
    await page.getByText('Live', { exact: true }).waitFor();
    await postsOf(of().api).create({ title: 'Not seen' });
    await of().api.post('/v1/users', { name: 'Seen, too' });
    await events
      .getByText(/^user\.created/)
      .first()
      .waitFor();
    expect(await events.getByText(/Not seen/).count()).toBe(0);
  });

  it('connects again after an error of a proxy', async () => {
    const page = await of().open('/admin/#/health');
    await page.getByRole('button', { name: 'Check now' }).waitFor();
    await page.route('**/v1/events/stream*', (route) => route.fulfill({ status: 502 }), { times: 1 });
    await page.getByRole('menuitem', { name: 'Events' }).click();
    await page.getByText('Connecting', { exact: true }).waitFor();
    await page.getByText('Live', { exact: true }).waitFor();
    await postsOf(of().api).create({ title: 'Seen after it' });
    const seen = page.getByText(/^post\.created/);
    await seen.first().waitFor();
    expect(await seen.count()).toBe(1);
    expect(of().errors.splice(0)).toEqual(['502 /v1/events/stream']);
  });
});
