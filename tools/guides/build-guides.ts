import { createHash } from 'node:crypto';
import { globSync, readFileSync } from 'node:fs';
import { decisionsPage, guidePage, indexPage } from './layout.ts';
import { addressOf, readDecisions, readGroups } from './navigation.ts';
import { render } from './render.ts';
import { searchIndex, type Page } from './search-index.ts';

/** What the pages are built from; the lock file stands for the packages. */
export function fingerprintOfGuides(): string {
  const hash = createHash('sha256');
  const sources = ['README.md', 'package-lock.json'];
  for (const file of [...sources, ...globSync(['docs/**/*.md', 'tools/guides/*']).toSorted()]) {
    hash.update(`${file}\0`).update(readFileSync(file)).update('\0');
  }
  return hash.digest('hex');
}

/** The guides in `docs/` and the README as pages without their header, and the index for the search: file below `public/`, and content. */
export function buildGuides(): Map<string, string> {
  const [groups, decisions] = [readGroups(), readDecisions()];
  const files = new Map([
    ['guides/index.html', indexPage(groups)],
    ['guides/decisions.html', decisionsPage(decisions)],
  ]);
  const pages: Page[] = [];
  for (const within of [groups, [decisions]]) {
    for (const guide of within.flatMap(({ guides }) => guides)) {
      const address = addressOf(guide.source);
      const html = render(readFileSync(guide.source, 'utf8'), guide.source);
      files.set(`${address.slice(1)}.html`, guidePage(guide, within, html));
      pages.push({ address, title: guide.title, html });
    }
  }
  return files.set('search/index.json', searchIndex(pages));
}
