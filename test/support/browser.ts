import { existsSync } from 'node:fs';
import { type Browser, chromium } from 'playwright-core';

const PATHS = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'];

const executablePath = [process.env['CHROMIUM_PATH'] ?? '', ...PATHS].find(existsSync);

/** Whether tests in a browser can run here. In CI they have to; elsewhere it is said aloud that they are left out. */
export const hasBrowser = executablePath !== undefined || process.env['CI'] !== undefined;
if (!hasBrowser) {
  process.stderr.write(
    '\nLEFT OUT: tests in a browser, as there is no Chromium here (CHROMIUM_PATH names one)\n\n',
  );
}

export function launchBrowser(): Promise<Browser> {
  if (executablePath === undefined) throw new Error('There is no Chromium here, and CI does not do without');
  return chromium.launch({ executablePath, args: ['--no-sandbox'] });
}
