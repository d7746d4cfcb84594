import { SERVICE } from '../../config/package.js';
import type { Config } from '../../config/config.js';
import { hasApp } from './public-files.js';

/** The pages that the header of each page links to, and the name of the service as the link to the first one. */
const PAGES = { '/': SERVICE.title, '/guides': 'Guides', '/docs': 'Reference', '/graphql': 'Playground' };

/** The settings that decide which pages there are. */
export type PageSettings = Pick<Config, 'graphql' | 'accountLinksUrl' | 'basePath'>;

export interface CurrentPage {
  /** The entry of the header, or another page. */
  readonly path?: keyof typeof PAGES | undefined;
  /** Whether the page is one of several below the entry. */
  readonly isBelow?: boolean;
}

/** What is common to the `head` of all pages. */
export const HEAD = `\
<meta charset="utf-8" />
    <meta name="viewport" content="width=device-width, initial-scale=1" />
    <meta name="color-scheme" content="light dark" />
    <meta name="description" content="${SERVICE.description.replaceAll('"', '&quot;')}" />
    <link rel="icon" href="/favicon.ico" />
    <link rel="apple-touch-icon" href="/site/apple-touch-icon.png" />
    <link rel="stylesheet" href="/site/site.css" />
    <script type="module" src="/site/header.js"></script>`;

export function headerOf({ path, isBelow = false }: CurrentPage, settings: PageSettings): string {
  const link = ([to, title]: [string, string]) =>
    `<a href="${to}"${to === path ? ` aria-current="${isBelow ? 'true' : 'page'}"` : ''}>${title}</a>`;
  const [home, ...others] = Object.entries(PAGES).filter(([to]) => hasPage(to, settings));
  const account = hasPage('/account/', settings) ? ' data-account="/account/"' : '';
  return `\
<a class="skip-link" href="#main">Skip to the content</a>
    <header class="site-header">
      ${link(home!).replace('>', '><img src="/favicon.ico" alt="" width="22" height="22" />')}
      <nav aria-label="Pages">${others.map(link).join('')}</nav>
      <div id="session" class="session"${account}></div>
    </header>`;
}

/** @param path of a page that some settings turn off */
export function hasPage(path: string, { graphql, accountLinksUrl }: PageSettings): boolean {
  if (path === '/graphql') return graphql.playground;
  if (path === '/admin/') return hasApp;
  return path !== '/account/' || (hasApp && accountLinksUrl === undefined);
}
