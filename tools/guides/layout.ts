import { readFileSync } from 'node:fs';
import { addressOf, type Group, type Guide } from './navigation.ts';
import { escapeHtml } from './render.ts';

const TEMPLATE = readFileSync(new URL('guide.html', import.meta.url), 'utf8');

/** What surrounds the text of a page. */
interface Frame {
  readonly title: string;
  /** Where the reader is below the guides. */
  readonly trail?: string;
  readonly aside?: string;
  readonly text: string;
  readonly after?: string;
}

const inFrame = ({ title, trail = '', aside = '', text, after = '' }: Frame): string =>
  TEMPLATE.replace('<!-- title -->', () => escapeHtml(title))
    .replace('<!-- trail -->', () => trail)
    .replace('<!-- aside -->', () => aside)
    .replace('<!-- text -->', () => text)
    .replace('<!-- after -->', () => after);

const link = ({ source, title }: Guide, attributes = ''): string =>
  `<a href="${addressOf(source)}"${attributes}>${escapeHtml(title)}</a>`;

/** A guide between its neighbours, beside the list of all. */
export function guidePage(guide: Guide, groups: readonly Group[], text: string): string {
  const all = groups.flatMap(({ guides }) => guides);
  const at = all.indexOf(guide);
  const isDecision = groups.length === 1;
  const lists = groups.map(({ title, guides }) => {
    const entries = guides.map(
      (each) => `<li>${link(each, each === guide ? ' aria-current="page"' : '')}</li>`,
    );
    return `<p>${escapeHtml(title)}</p><ul>${entries.join('')}</ul>`;
  });
  const neighbour = (to: Guide | undefined, rel: string, word: string) =>
    to
      ? `<a rel="${rel}" href="${addressOf(to.source)}"><span>${word}</span> ${escapeHtml(to.title)}</a>`
      : '';
  return inFrame({
    title: guide.title,
    trail: `<a href="/guides">Guides</a>${isDecision ? ' <span aria-hidden="true">/</span> <a href="/guides/decisions">Decisions</a>' : ''}`,
    aside: `<nav class="side-bar" aria-label="${isDecision ? 'Decisions' : 'Guides'}">${lists.join('')}</nav>`,
    text,
    after: `<nav class="neighbours" aria-label="Next and previous">${neighbour(all[at - 1], 'prev', 'Previous')}${neighbour(all[at + 1], 'next', 'Next')}</nav>`,
  });
}

/** The list of all guides. */
export function indexPage(groups: readonly Group[]): string {
  const sections = groups.map(({ title, guides }) => {
    const entries = guides.map((each) => `<li>${link(each)}<p>${escapeHtml(each.about)}</p></li>`);
    return `<h2>${escapeHtml(title)}</h2><ul class="guides">${entries.join('')}</ul>`;
  });
  const more =
    '<h2>Decisions</h2><p>The <a href="/guides/decisions">decisions</a> have the reasons for what may surprise you.</p>';
  return inFrame({ title: 'Guides', text: `<h1>Guides</h1>${sections.join('')}${more}` });
}

/** The list of all decisions. */
export function decisionsPage({ guides }: Group): string {
  return inFrame({
    title: 'Decisions',
    trail: '<a href="/guides">Guides</a>',
    text: `<h1>Decisions</h1><p>The context, the decision and its consequences, for what may surprise you.</p><ul class="decisions">${guides.map((each) => `<li>${link(each)}</li>`).join('')}</ul>`,
  });
}
