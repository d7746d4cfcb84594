import MiniSearch from 'minisearch';

export interface Page {
  readonly address: string;
  readonly title: string;
  readonly html: string;
}

/** How the sections are searched. */
const OPTIONS = {
  fields: ['title', 'heading', 'text'],
  storeFields: ['title', 'heading', 'excerpt'],
  searchOptions: { boost: { title: 4, heading: 3 }, prefix: true, fuzzy: 0.15, combineWith: 'AND' as const },
};

/** Characters of a section that a result shows. */
const EXCERPT = 140;

/** The index that browsers load to search, with its options: each section of a page is a result. */
export function searchIndex(pages: readonly Page[]): string {
  const index = new MiniSearch(OPTIONS);
  index.addAll(pages.flatMap(sectionsOf));
  return JSON.stringify({ index, options: OPTIONS });
}

function sectionsOf({ address, title, html }: Page) {
  return html.split(/(?=<h[1-6] id=)/).map((part) => {
    const [, depth, id, inner = ''] = /^<h([1-6]) id="([^"]*)">(.*)<\/h\1>/.exec(part) ?? [];
    const text = textOf(part.slice(part.indexOf('</h') + 5));
    return {
      id: depth === '1' || id === undefined ? address : `${address}#${id}`,
      title,
      heading: depth === '1' ? '' : textOf(inner.replace(/<a class="anchor".*/, '')),
      text,
      excerpt: text.slice(0, EXCERPT),
    };
  });
}

const textOf = (html: string): string =>
  html
    .replaceAll(/<[^>]*>/g, ' ')
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&quot;', '"')
    .replaceAll(/&#(?:39|x27);/g, "'")
    .replaceAll('&amp;', '&')
    .replaceAll(/\s+/g, ' ')
    .trim();
