import { createRequire } from 'node:module';
import { posix } from 'node:path';
import { Marked } from 'marked';
import { addressOf } from './navigation.ts';

// Not imported: its types would add those of browsers to the whole project.
const hljs = createRequire(import.meta.url)('highlight.js/lib/common') as {
  getLanguage: (name: string) => object | undefined;
  highlight: (code: string, options: { language: string }) => { value: string };
};

/** A Markdown file as HTML. Headings have the ids that GitHub gives them. */
export function render(markdown: string, source: string): string {
  const marked = new Marked({
    renderer: {
      heading({ tokens, depth, text }) {
        const id = anchorOf(text);
        const name = escapeHtml(plain(text));
        const link = `<a class="anchor" href="#${id}" aria-label="Link to ${name}">#</a>`;
        return `<h${depth} id="${id}">${this.parser.parseInline(tokens)}${depth > 1 ? ` ${link}` : ''}</h${depth}>\n`;
      },
      link({ href, tokens }) {
        const text = this.parser.parseInline(tokens);
        const target = targetOf(href, source);
        return target === undefined ? text : `<a href="${escapeHtml(target)}">${text}</a>`;
      },
      // The service serves no files of `docs/`.
      image: () => '',
      code: ({ text, lang = '' }) =>
        `<div class="code"><pre tabindex="0"><code>${highlighted(text, lang)}</code></pre></div>\n`,
    },
  });
  return (
    marked
      .parse(markdown, { async: false })
      .replaceAll('<p></p>', '')
      // A link may name the row of a code.
      .replaceAll(/<td><code>([A-Z_]+)<\/code>/g, (cell, code: string) =>
        cell.replace('<td>', `<td id="${code.toLowerCase()}">`),
      )
      // A table that is too wide scrolls, also by keyboard.
      .replaceAll('<table>', '<div class="table" role="group" aria-label="Table" tabindex="0"><table>')
      .replaceAll('</table>', '</table></div>')
      .replaceAll('<th></th>', '<td></td>')
      // The security policy of the pages does not allow inline styles.
      .replaceAll(/ (?:style|align)="[^"]*"/g, '')
  );
}

const highlighted = (code: string, language: string): string =>
  hljs.getLanguage(language) ? hljs.highlight(code, { language }).value : escapeHtml(code);

/** The same as GitHub's ids of headings. */
const anchorOf = (heading: string): string =>
  heading
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N} _-]/gu, '')
    .replaceAll(' ', '-');

/** The text of a heading without its markup. */
const plain = (markdown: string): string => markdown.replaceAll(/[`*]|\[|\]\([^)]*\)/g, '');

/** The target of a link on the pages; `undefined` for files that the service does not serve. */
function targetOf(href: string, source: string): string | undefined {
  if (/^[a-z]+:/.test(href)) return href.replace(/^http:\/\/127\.0\.0\.1:3000/, '') || '/';
  const [path = '', anchor] = href.split('#');
  const fragment = anchor === undefined ? '' : `#${anchor}`;
  if (path === '') return fragment;
  const file = posix.join(posix.dirname(source), path);
  if (file === 'docs/decisions') return '/guides/decisions';
  return /^(?:README|docs\/.*)\.md$/.test(file) ? addressOf(file) + fragment : undefined;
}

export const escapeHtml = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;');
