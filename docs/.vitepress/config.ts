import { readFileSync } from 'node:fs';
import { defineConfig, type DefaultTheme } from 'vitepress';
import { anchorOf, useRulesOfGuides } from './markdown.ts';
import { addressOf, readDecisions, readGroups, type Group } from './navigation.ts';
import { search } from './search.ts';

const { title } = JSON.parse(readFileSync('package.json', 'utf8')) as { title: string };

const sidebarOf = ({ title: text, guides }: Group): DefaultTheme.SidebarItem => ({
  text,
  items: guides.map((guide) => ({ text: guide.title, link: addressOf(guide.source) })),
});

/** The guides below `/guides`. The service puts its header into the pages, and checks their inline scripts by hash. */
export default defineConfig({
  title,
  titleTemplate: `:title · ${title}`,
  base: '/guides/',
  cleanUrls: true,
  // The other pages follow the system, too.
  appearance: 'force-auto',
  // Whoever deletes a guide can still build; a test checks the links.
  ignoreDeadLinks: true,
  // The metadata of all pages would be an inline script of each.
  metaChunk: true,
  markdown: {
    anchor: { slugify: anchorOf },
    theme: { light: 'github-light-high-contrast', dark: 'github-dark-high-contrast' },
    config: useRulesOfGuides,
  },
  transformHtml: (html) =>
    html
      .replace(/<meta name="description"[^>]*>\s*/, '')
      .replace(/<meta charset="utf-8">\s*<meta name="viewport"[^>]*>/, '<!-- head -->')
      .replace(
        '<div id="app">',
        '<section class="vp-raw site" aria-label="Site"><!-- header --></section>\n    <div id="app">',
      ),
  themeConfig: {
    siteTitle: 'Guides',
    nav: [{ text: 'Decisions', link: '/decisions', activeMatch: '^/decisions' }],
    sidebar: { '/decisions/': [sidebarOf(readDecisions())], '/': readGroups().map(sidebarOf) },
    outline: [2, 3],
    search,
  },
});
