import type { Page } from 'playwright-core';
import { PASSWORD } from './accounts.js';

/** Fills the form of a login, and sends it. */
export async function logIn(page: Page, email: string, password = PASSWORD): Promise<void> {
  await page.getByLabel('E-mail').fill(email);
  await page.getByRole('textbox', { name: 'Password' }).fill(password);
  await page.keyboard.press('Enter');
}

/** Logs in by the link in the header of a page, which leads back to the page. */
export async function logInByHeader(page: Page, email: string): Promise<void> {
  await page.click('#session a:text("Log in")');
  await logIn(page, email);
  await page.waitForSelector(`#session [title="${email}"]`);
}

/** Logs out in another tab, which all pages of the browser notice. */
export async function logOutElsewhere(page: Page): Promise<void> {
  const other = await page.context().newPage();
  await other.goto(new URL('/account/', page.url()).href);
  await other.click('button:text("Log out")');
  await other.waitForSelector('h1:text("Log in")');
  await other.close();
  await page.waitForSelector('#session a:text("Log in")');
}
