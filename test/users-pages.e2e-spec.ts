import { expect, it } from '@jest/globals';
import { confirm, describeConsole } from './support/console.js';

describeConsole('the users of the console', (of) => {
  it('creates a user, shows both versions after a change by somebody else, and deletes it', async () => {
    const page = await of().open('/admin/#/users/create');
    await page.getByLabel('Name').fill('First');
    await page.getByLabel('E-mail').fill('first@example.com');
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByRole('cell', { name: 'First' }).click();
    await page.getByLabel('Name').fill('Mine');
    const path = `/v2/users/${/\/users\/(\d+)/.exec(page.url())![1]}`;
    await of().api.patch(path, { name: 'Theirs' });
    await page.getByRole('button', { name: 'Save' }).click();

    const dialog = page.getByRole('dialog', { name: 'Somebody has changed this meanwhile' });
    expect(await dialog.getByRole('row', { name: /^name/ }).textContent()).toBe('nameTheirsMine');
    // Once more, before the person has chosen.
    await of().api.patch(path, { name: 'Theirs again' });
    await dialog.getByRole('button', { name: 'Save mine' }).click();
    await dialog.getByText('Theirs again').waitFor();
    await dialog.getByRole('button', { name: 'Save mine' }).click();
    await page.getByText('Your version is saved.').waitFor();
    const { data } = (await of().api.get(path)).body;
    expect(data).toMatchObject({ name: 'Mine', email: 'first@example.com' });

    await page.getByRole('button', { name: 'Delete' }).click();
    await confirm(page, 'Confirm');
    await page.getByText('Element deleted').waitFor();
    expect(await of().api.get(path)).toBeError('NOT_FOUND');
  });

  it('changes a record of a list only under the entity tag that its form was filled with', async () => {
    const { id } = (await of().api.post('/v2/users', { name: 'Listed' })).body.data;
    const page = await of().open('/admin/#/users');
    const tags: (string | undefined)[] = [];
    page.on('request', (request) => request.method() === 'PATCH' && tags.push(request.headers()['if-match']));
    const { promise: held, resolve: release } = Promise.withResolvers<void>();
    await page.route(`**/v2/users/${id}`, (route) => held.then(() => route.continue()));
    await page.getByRole('cell', { name: 'Listed' }).click();
    await page.waitForURL(`**/users/${id}`);
    expect(await page.getByLabel('Name').count()).toBe(0);
    release();
    await page.getByLabel('Name').fill('Changed');
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText('Element updated').waitFor();
    await page.getByLabel('Name').fill('Changed again');
    const saved = page.waitForResponse((response) => response.request().method() === 'PATCH');
    await page.getByRole('button', { name: 'Save' }).click();
    expect((await saved).status()).toBe(200);

    expect(tags).toEqual([expect.stringMatching(/^"/), expect.stringMatching(/^"/)]);
    expect((await of().api.get(`/v2/users/${id}`)).body.data.name).toBe('Changed again');
  });
});
