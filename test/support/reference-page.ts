import type { Locator, Page } from 'playwright-core';

/**
 * Opens an operation of the reference.
 *
 * @param url of the service
 * @param operation as its address names it: `accounts/PATCH/auth/me/`
 */
export async function openOperation(page: Page, url: string, operation: string): Promise<Locator> {
  // From the reference itself only the fragment would change, which it replaces by what is in sight.
  await page.goto('about:blank');
  await page.goto(`${url}/docs#tag/${operation}`);
  const section = page.locator(`section[id$="tag/${operation}"]`);
  await section.getByRole('button', { name: 'Test Request' }).waitFor();
  return section;
}

/** Opens the dialog in which an operation is tried out, and returns it. */
export async function tryOut(section: Locator): Promise<Locator> {
  await section.getByRole('button', { name: 'Test Request' }).click();
  const dialog = section.page().getByRole('dialog', { name: 'API Client' });
  await dialog.getByRole('region', { name: 'Request' }).waitFor();
  return dialog;
}

/** Sends the request of the dialog, and waits for its response. @param status such as `200 OK` */
export async function sendTo(dialog: Locator, status: string): Promise<void> {
  await dialog.getByRole('button', { name: /^Send \w+ request to/ }).click();
  await dialog.getByRole('region', { name: 'Response' }).getByText(status).waitFor();
}
