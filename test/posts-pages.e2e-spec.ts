import { expect, it } from '@jest/globals';
import { confirm, describeConsole } from './support/console.js';
import { postsOf } from './support/posts.js';

describeConsole('the posts of the console', (of) => {
  it('shows both versions of a post that somebody else has changed, and saves the one that is chosen', async () => {
    const { id } = await postsOf(of().api).create({ title: 'First' });
    const page = await of().open(`/admin/#/posts/${id}`);
    const title = page.getByLabel('Title');
    await title.fill('Mine');
    await of().api.patch(`/v1/posts/${id}`, { title: 'Theirs', content: 'Their content' });
    await page.getByRole('button', { name: 'Save' }).click();

    const dialog = page.getByRole('dialog', { name: 'Somebody has changed this meanwhile' });
    expect(await dialog.getByRole('row', { name: /^title/ }).textContent()).toBe('titleTheirsMine');
    expect((await postsOf(of().api).get(id)).title).toBe('Theirs');
    await dialog.getByRole('button', { name: 'Save mine' }).click();
    await page.getByText('Your version is saved.').waitFor();
    // What the person has not touched stays as the other has left it.
    expect(await postsOf(of().api).get(id)).toMatchObject({ title: 'Mine', content: 'Their content' });

    await page.getByRole('button', { name: 'Delete' }).click();
    await confirm(page, 'Confirm');
    await page.getByText('Element deleted').waitFor();
    expect(await of().api.get(`/v1/posts/${id}`)).toBeError('NOT_FOUND');
  });

  it('finds posts by their text', async () => {
    await postsOf(of().api).create({ title: 'A needle' });
    await postsOf(of().api).create({ title: 'Some hay' });
    const page = await of().open('/admin/#/posts');
    await page.getByRole('cell', { name: 'Some hay' }).waitFor();
    await page.getByPlaceholder('Search').fill('NEEDLE');
    await page.getByRole('cell', { name: 'Some hay' }).waitFor({ state: 'detached' });
    await page.getByRole('cell', { name: 'A needle' }).waitFor();
  });
});
