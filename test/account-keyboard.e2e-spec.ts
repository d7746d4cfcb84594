import { it } from '@jest/globals';
import { describeConsole, ROOT } from './support/console.js';

describeConsole('an account page by keyboard', (of) => {
  it('goes on in the section that a link has opened, and at what has taken the place of a form', async () => {
    const page = await of().open('/account/#/profile', ROOT);
    const focused = page.locator(':focus');
    await page.getByRole('heading', { name: 'Profile' }).waitFor();
    await page.getByRole('link', { name: 'API keys' }).focus();
    await page.keyboard.press('Enter');
    await focused.and(page.getByRole('heading', { name: 'API keys' })).waitFor();

    await page.getByRole('button', { name: 'Create a key' }).focus();
    await page.keyboard.press('Enter');
    await focused.and(page.getByLabel('Name')).waitFor();
    await page.getByRole('button', { name: 'Cancel' }).focus();
    await page.keyboard.press('Enter');
    await focused.and(page.getByRole('heading', { name: 'API keys' })).waitFor();

    await page.getByRole('button', { name: 'Create a key' }).focus();
    await page.keyboard.press('Enter');
    await focused.and(page.getByLabel('Name')).waitFor();
    await page.keyboard.type('deploy');
    await page.keyboard.press('Enter');
    await focused.and(page.getByLabel('API key', { exact: true })).waitFor();
  });
});
