import { afterAll, afterEach, beforeAll, describe, expect } from '@jest/globals';
import type { Browser, BrowserContextOptions, Page, Request } from 'playwright-core';
import { hasBrowser, launchBrowser } from './browser.js';

interface PageOptions extends BrowserContextOptions {
  onRequest?: (request: Request) => unknown;
}

/** Opens a page in a context of its own. */
export type OpenPage = (url: string, options?: PageOptions) => Promise<Page>;

/** A page of many scripts opens slowly on a busy machine. Below the timeout of a test, whose message says less. */
const WAIT_MS = 100_000;

/** The types of resources without which a page is broken. */
const FILES = new Set(['script', 'stylesheet', 'image', 'font']);

/** Why a call is refused may be what a test is about; that it finds nothing, or a fault, is an error. */
const isFault = (type: string, status: number): boolean =>
  FILES.has(type) ? status >= 400 : type !== 'document' && (status === 404 || status >= 500);

/**
 * Tests in a real browser. Each fails if one of its pages has logged an error, lacks a file, or makes a call that fails.
 *
 * @param tests get what has been reported in the present test, too
 */
export function describeInBrowser(tests: (open: OpenPage, errors: string[]) => void): void {
  (hasBrowser ? describe : describe.skip)('in a browser', () => {
    let browser: Browser;
    const errors: string[] = [];
    beforeAll(async () => {
      browser = await launchBrowser();
    });
    afterEach(async () => {
      await Promise.all(browser.contexts().map((context) => context.close()));
      expect(errors.splice(0)).toEqual([]);
    });
    afterAll(() => browser?.close());

    const open: OpenPage = async (url, { onRequest = () => undefined, ...options } = {}) => {
      const context = await browser.newContext(options);
      context.setDefaultTimeout(WAIT_MS);
      context.on('request', onRequest);
      context.on('weberror', (error) => errors.push(error.error().message));
      context.on('console', (message) => {
        // The browser logs each status above 399 like this.
        if (message.type() === 'error' && !message.text().includes('Failed to load resource'))
          errors.push(message.text());
      });
      context.on('response', (response) => {
        if (isFault(response.request().resourceType(), response.status()))
          errors.push(`${response.status()} ${new URL(response.url()).pathname}`);
      });
      const page = await context.newPage();
      await page.goto(url);
      return page;
    };
    tests(open, errors);
  });
}
