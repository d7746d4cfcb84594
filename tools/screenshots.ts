/**
 * `npm run screenshots`: renews the pictures of the README. It starts the built service with sample data, and takes them
 * with Chromium.
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
execFileSync(process.execPath, ['dist/commands/seed.js', '--posts', '100', '--users', '3', '--yes'], {
  env,
  stdio: 'ignore',
});
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
