import type { DefaultTheme } from 'vitepress';

type Section = { anchor: string; titles: string[]; text: string };

/** Where a section begins: at a heading, or at a row that has an address, such as that of a setting. */
const START = /(?=<h[1-6] id="|<tr>\s*<td id=")/;

/** A result has the title of its guide in its own, so that the words of both count as those of titles. */
function* sectionsOf(_: string, html: string): Generator<Section> {
  let guide = '';
  for (const part of html.split(START)) {
    const [start, anchor, inner] =
      /^<(?:h\d|tr>\s*<td) id="([^"]+)"[^>]*>(.*?)(?:<a class="header-anchor"|<\/td>)/s.exec(part) ?? [];
    if (start === undefined) continue;
    const [title, isGuide] = [textOf(inner!), start.startsWith('<h1')];
    if (isGuide) guide = title;
    yield {
      anchor: isGuide ? '' : anchor!,
      titles: [isGuide ? title : `${guide}: ${title}`],
      // Without the text, a section would end the list.
      text: `${title} ${textOf(part.slice(start.length))}`,
    };
  }
}

const textOf = (html: string): string =>
  html
    .replaceAll(/<[^>]*>/g, ' ')
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&quot;', '"')
    .replaceAll('&amp;', '&')
    .replaceAll(/[\s\u200B]+/g, ' ')
    .trim();

export const search = {
  provider: 'local',
  options: {
    detailedView: false,
    translations: { button: { buttonText: 'Search the guides', buttonAriaLabel: 'Search the guides' } },
    miniSearch: {
      // Its name begins with `_`: it stays on the side of the build.
      _splitIntoSections: sectionsOf,
      searchOptions: {
        boost: { title: 4, text: 1 },
        prefix: true,
        combineWith: 'AND',
      },
    },
  },
} satisfies DefaultTheme.Config['search'];
