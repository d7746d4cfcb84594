import { expect, it } from '@jest/globals';
import type { Page } from 'playwright-core';
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

  it('reads one stream for all tabs, so that other pages still load', async () => {
    const first = await of().open('/admin/#/events');
    const tabs = [first];
    for (let n = 0; n < 7; n++) {
      const tab = await first.context().newPage();
      await tab.goto(`${of().url}/admin/#/events`);
      tabs.push(tab);
    }
    const isSeen = (tab: Page, title: string) => tab.getByText(`title: ${title}`).first().waitFor();
    for (const tab of tabs) await tab.getByText('Live', { exact: true }).waitFor();
    await postsOf(of().api).create({ title: 'Seen by all' });
    for (const tab of tabs) await isSeen(tab, 'Seen by all');
    const other = await first.context().newPage();
    await other.goto(`${of().url}/`);

    // The next tab goes on where the one has ended that has read the stream.
    await first.close();
    await postsOf(of().api).create({ title: 'Seen by those that are left' });
    for (const tab of tabs.slice(1)) await isSeen(tab, 'Seen by those that are left');
    expect(await tabs[1]!.getByText(/^post\.created/).count()).toBe(2);
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
