import { existsSync } from 'node:fs';
import { type Browser, chromium } from 'playwright-core';

const PATHS = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'];

const executablePath = [process.env['CHROMIUM_PATH'] ?? '', ...PATHS].find(existsSync);

/** Whether browser tests can run. In CI they must; elsewhere the run reports that it skips them. */
export const hasBrowser = executablePath !== undefined || process.env['CI'] !== undefined;
if (!hasBrowser) {
  process.stderr.write(
    '\nSKIPPED: tests in a browser, because no Chromium was found (set CHROMIUM_PATH)\n\n',
  );
}

export function launchBrowser(): Promise<Browser> {
  if (executablePath === undefined) throw new Error('No Chromium was found, which CI requires');
  return chromium.launch({ executablePath, args: ['--no-sandbox'] });
}
