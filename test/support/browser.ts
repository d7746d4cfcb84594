import { existsSync } from 'node:fs';
import { type Browser, chromium } from 'playwright-core';

const PATHS = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'];

export const chromiumPath = [process.env['CHROMIUM_PATH'] ?? '', ...PATHS].find(existsSync);

/** Whether tests in a browser run: `npm run test:system` sets it, because they take a minute of processor time. */
export const hasBrowser = process.env['TEST_BROWSER'] === 'on';

export function launchBrowser(): Promise<Browser> {
  if (chromiumPath === undefined) throw new Error('No Chromium was found; set CHROMIUM_PATH');
  return chromium.launch({ executablePath: chromiumPath, args: ['--no-sandbox'] });
}
