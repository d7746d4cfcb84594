import { existsSync } from 'node:fs';
import { posix } from 'node:path';
import type { MarkdownRenderer } from 'vitepress';

type Token = ReturnType<MarkdownRenderer['parse']>[number];

/** The address of the service in commands and links. */
const SERVICE = 'http://127.0.0.1:3000';

/** The same as GitHub's ids of headings. */
export const anchorOf = (heading: string): string =>
  heading
    .trim()
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N} _-]/gu, '')
    .replaceAll(' ', '-');

/** What the guides need beside what VitePress does with Markdown that GitHub shows, too. */
export function useRulesOfGuides(md: MarkdownRenderer): void {
  md.core.ruler.push('guides', ({ tokens, env }) => {
    const { relativePath } = env as { relativePath: string };
    const codes = new Set<string>();
    for (const [n, token] of tokens.entries()) {
      if (token.type !== 'inline') continue;
      token.children = withServedLinks(token.children ?? [], posix.dirname(relativePath));
      // A link may name the row of a code.
      const [, code] = /^`([A-Z_]+)`$/.exec(token.content) ?? [];
      if (code && tokens[n - 1]!.type === 'td_open' && !codes.has(code)) {
        codes.add(code);
        tokens[n - 1]!.attrSet('id', code.toLowerCase());
      }
      // An empty cell is no header.
      if (token.content === '' && tokens[n - 1]!.type === 'th_open')
        for (const cell of [tokens[n - 1]!, tokens[n + 1]!]) cell.tag = 'td';
    }
  });
  const { link_open: rendered } = md.renderer.rules;
  md.renderer.rules.link_open = (tokens, n, options, env, self) => {
    const href = tokens[n]!.attrGet('href')!;
    if (!href.startsWith(SERVICE)) return rendered!(tokens, n, options, env, self);
    // With a target, it is no link between guides.
    return `<a href="${href.slice(SERVICE.length) || '/'}" target="_self">`;
  };
}

/**
 * Makes the addresses of links to guides absolute, so that they hold at `/guides` as at `/guides/`. Of links to other
 * files the text is left, and of pictures nothing: the service serves neither.
 */
function withServedLinks(tokens: readonly Token[], folder: string): Token[] {
  let isDead = false;
  return tokens.filter((token) => {
    if (token.type === 'link_open') {
      const address = addressOfLink(token.attrGet('href')!, folder);
      isDead = address === undefined;
      if (address !== undefined) token.attrSet('href', address);
    }
    const isLeftOut = token.type === 'image' || (isDead && token.type.startsWith('link_'));
    if (token.type === 'link_close') isDead = false;
    return !isLeftOut;
  });
}

function addressOfLink(href: string, folder: string): string | undefined {
  if (/^([a-z]+:|#|\/)/.test(href)) return href;
  const [path = '', anchor] = href.split('#');
  const file = posix.join(folder, path.replace(/\/?$/, ''));
  const page = file === '../README.md' ? 'readme' : file.replace(/\.md$/, '');
  if (!existsSync(`docs/${page}.md`)) return undefined;
  return `/${page}${anchor === undefined ? '' : `#${anchor}`}`;
}
