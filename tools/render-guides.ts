import { globSync, readFileSync } from 'node:fs';
import { posix } from 'node:path';
import { Marked } from 'marked';

/** The guides in `docs/` and the README as parts of pages: file below `public/guides`, and HTML. */
export function renderGuides(): Map<string, string> {
  const sources = ['README.md', ...globSync('docs/**/*.md').toSorted()];
  const titles = sources.map((source) => [source, titleOf(source)] as const);
  const guides = titles.filter(([source]) => !source.includes('/decisions/'));
  const decisions = titles.filter(([source]) => source.includes('/decisions/'));
  const list = (entries: typeof titles) =>
    `<ul>${entries.map(([source, title]) => `<li><a href="${pathOf(source)}">${title}</a></li>`).join('')}</ul>`;
  const index = `<h1>Guides</h1>${list(guides)}<h2 id="decisions">Decisions</h2>${list(decisions)}`;
  return new Map([
    ['index.html', index],
    ...sources.map((source) => [`${pathOf(source).replace('/guides/', '')}.html`, render(source)] as const),
  ]);
}

const titleOf = (source: string): string => escape(/^# (.+)$/m.exec(readFileSync(source, 'utf8'))![1]!);

/** The address at which the service serves a file: `docs/errors.md` at `/guides/errors`. */
const pathOf = (source: string): string =>
  `/guides/${source
    .replace(/^docs\//, '')
    .replace(/\.md$/, '')
    .toLowerCase()}`;

function render(source: string): string {
  const marked = new Marked({
    renderer: {
      heading({ tokens, depth, text }) {
        return `<h${depth} id="${anchorOf(text)}">${this.parser.parseInline(tokens)}</h${depth}>\n`;
      },
      link({ href, tokens }) {
        const text = this.parser.parseInline(tokens);
        const target = targetOf(href, source);
        return target === undefined ? text : `<a href="${escape(target)}">${text}</a>`;
      },
      image: ({ text }) => escape(text),
    },
  });
  const html = marked.parse(readFileSync(source, 'utf8'), { async: false });
  return (
    html
      // Problem details link to the row of their code.
      .replaceAll(/<td><code>([A-Z_]+)<\/code>/g, (cell, code: string) =>
        cell.replace('<td>', `<td id="${code.toLowerCase()}">`),
      )
      .replaceAll('<table>', '<div class="table"><table>')
      .replaceAll('</table>', '</table></div>')
      // The security policy of the pages does not allow inline styles.
      .replaceAll(/ (?:style|align)="[^"]*"/g, '')
  );
}

/** The same as GitHub's ids of headings. */
const anchorOf = (heading: string): string =>
  heading
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N} _-]/gu, '')
    .replaceAll(' ', '-');

/** The target of a link on the pages; `undefined` for files that the service does not serve. */
function targetOf(href: string, source: string): string | undefined {
  if (/^[a-z]+:/.test(href)) return href.replace(/^http:\/\/127\.0\.0\.1:3000/, '') || '/';
  const [path = '', anchor] = href.split('#');
  const fragment = anchor === undefined ? '' : `#${anchor}`;
  if (path === '') return fragment;
  const file = posix.join(posix.dirname(source), path);
  if (file === 'docs/decisions') return '/guides#decisions';
  return /^(?:README|docs\/.*)\.md$/.test(file) ? pathOf(file) + fragment : undefined;
}

const escape = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;');
