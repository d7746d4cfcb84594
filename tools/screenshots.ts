/**
 * `npm run screenshots`: renews the pictures of the README, the preview of links, and the icon for iOS. It starts the
 * built service with sample data, and takes them with Chromium.
 */
import { execFileSync, spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Page } from 'playwright-core';
import { parseCommandLine } from '../src/commands/support/command-line.ts';
import { launchBrowser } from '../test/support/browser.ts';

parseCommandLine('Usage: npm run screenshots');

const PORT = '3971';
const ADDRESS = `http://127.0.0.1:${PORT}`;
const VIEWPORT = { width: 1280, height: 800 };

const directory = mkdtempSync(join(tmpdir(), 'screenshots-'));
const env = { ...process.env, DATA_DIR: directory, PORT, PUBLIC_URL: 'http://127.0.0.1:3000' };
execFileSync(process.execPath, ['dist/commands/posts/seed.js', '--posts', '100', '--users', '3', '--yes'], {
  env,
  stdio: 'ignore',
});
const STAFF = { email: 'ada@example.com', password: 'first-programmer' };
execFileSync(
  process.execPath,
  ['dist/commands/account.js', 'create-superuser', '--email', STAFF.email, '--name', 'Ada'],
  { env, input: `${STAFF.password}\n`, stdio: ['pipe', 'ignore', 'inherit'] },
);
const service = spawn(process.execPath, ['dist/main.js'], { env, stdio: 'ignore' });
try {
  await ready();
  const browser = await launchBrowser();
  const page = await browser.newPage({ viewport: VIEWPORT });
  await take(page, '/', 'docs/home.png', () => page.waitForSelector('.copy'));
  await take(page, '/graphql', 'docs/playground.png', async () => {
    await page.click('.graphiql-execute-button');
    await page.waitForSelector('.result-window .cm-property');
  });
  await take(page, '/docs#tag/posts/POST/v1/posts', 'docs/reference.png', () =>
    page.waitForSelector('h3:has-text("Creates a post")'),
  );
  await page.setViewportSize({ width: 1200, height: 630 });
  await take(page, '/', 'public/site/preview.png', () => page.waitForSelector('.copy'));
  await page.setViewportSize({ width: 180, height: 180 });
  // iOS rounds the corners itself.
  await take(page, '/favicon.ico', 'public/site/apple-touch-icon.png', () =>
    page.$eval('rect', (rect) => rect.removeAttribute('rx')),
  );
  await page.setViewportSize(VIEWPORT);
  await take(page, '/admin/#/posts', 'docs/console.png', async () => {
    await page.fill('[name=email]', STAFF.email);
    await page.fill('[name=password]', STAFF.password);
    await page.keyboard.press('Enter');
    await page.waitForSelector('tbody tr');
  });
  await browser.close();
} finally {
  service.kill();
  rmSync(directory, { recursive: true, force: true });
}

async function take(page: Page, path: string, file: string, prepare: () => Promise<unknown>): Promise<void> {
  await page.goto(ADDRESS + path, { waitUntil: 'networkidle' });
  await prepare();
  await page.screenshot({ path: file });
  console.log(file);
}

async function ready(attempts = 100): Promise<void> {
  const isReady = await fetch(`${ADDRESS}/health/ready`).then(
    ({ ok }) => ok,
    () => false,
  );
  if (isReady) return;
  if (attempts === 0) throw new Error('The service has not started');
  await sleep(100);
  await ready(attempts - 1);
}
