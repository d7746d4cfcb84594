import { globSync, readFileSync } from 'node:fs';
import { basename, posix } from 'node:path';

interface Guide {
  /** The file in the repository. */
  readonly source: string;
  readonly title: string;
  /** What the guide is about. */
  readonly about: string;
}

export interface Group {
  readonly title: string;
  readonly guides: readonly Guide[];
}

/** The address of a file below the guides: `docs/errors.md` is at `/errors`. */
export const addressOf = (source: string): string =>
  `/${source
    .replace(/^docs\//, '')
    .replace(/\.md$/, '')
    .toLowerCase()}`;

const titleOf = (source: string): string => /^# (.+)$/m.exec(readFileSync(source, 'utf8'))![1]!;

/** Those of {@link morePages}, which are there while VitePress builds. */
const MORE_PAGES = 'docs/{index,decisions,readme}.md';

/** The options of a page that is a list. */
const LIST =
  '---\nsidebar: false\naside: false\nprev: false\nnext: false\nsearch: false\npageClass: list\n---\n\n';

/** An entry of a list or a row of a table: a link to a guide, and what it is about. */
const ENTRY = /^(?:- |\| )\[([^\]]+)\]\(([\w./-]+\.md)\)(?:: | +\| )(.+?)[ |]*$/gm;

/**
 * The guides in the groups and the order of the README. A guide that the README does not mention follows the guide that
 * lists it; one that is listed nowhere comes last, without a sentence, which a test does not accept.
 */
export function readGroups(): Group[] {
  const [, list = ''] = readFileSync('README.md', 'utf8').split('## Where to go on');
  const left = new Set(globSync('docs/**/*.md', { exclude: ['docs/decisions/**', MORE_PAGES] }).toSorted());
  const withListed = (guide: Guide): Guide[] => {
    left.delete(guide.source);
    const listed = entriesOf(readFileSync(guide.source, 'utf8'), posix.dirname(guide.source), left);
    return [guide, ...listed.flatMap(withListed)];
  };
  const named = new Set([...list.matchAll(/docs\/[\w/-]+\.md/g)].map(([source]) => source));
  for (const source of named) left.delete(source);
  const groups = list
    .split(/^### /m)
    .slice(1)
    .map((part) => {
      const entries = entriesOf(part, '.', named);
      return { title: part.slice(0, part.indexOf('\n')), guides: entries.flatMap(withListed) };
    });
  const others = [...left].map((source) => ({ source, title: titleOf(source), about: '' }));
  const readme = {
    source: 'README.md',
    title: 'Overview',
    about: 'Start the service, and a tour of its commands',
  };
  const more = others.length > 0 ? [{ title: 'More', guides: others }] : [];
  return [{ title: 'Start', guides: [readme] }, ...groups, ...more];
}

function entriesOf(text: string, folder: string, among: ReadonlySet<string>): Guide[] {
  return [...text.matchAll(ENTRY)]
    .map(([, title, path, about]) => ({
      source: posix.join(folder, path!),
      title: title!,
      about: capitalized(about!.replaceAll(/`|\[([^\]]+)\]\([^)]+\)/g, '$1')),
    }))
    .filter(({ source }) => among.has(source));
}

const capitalized = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);

/** The decisions by their numbers. */
export function readDecisions(): Group {
  const guides = globSync('docs/decisions/*.md')
    .toSorted()
    .map((source) => ({ source, title: titleOf(source), about: basename(source) }));
  return { title: 'Decisions', guides };
}

/** The pages that stand for files outside `docs/`, in Markdown: the list of guides, that of decisions, and the README. */
export function morePages(): Map<string, string> {
  const listed = ({ source, title, about }: Guide) =>
    `- [${title}](.${addressOf(source)}.md)${about && `<p>${about}</p>`}`;
  const groups = readGroups().map(({ title, guides }) => `## ${title}\n\n${guides.map(listed).join('\n')}\n`);
  const decisions = readDecisions().guides.map((guide) => listed({ ...guide, about: '' }));
  return new Map([
    [
      'index.md',
      `${LIST}# Guides\n\n${groups.join('\n')}\n## Decisions\n\nThe [decisions](decisions.md) have the reasons for what may surprise you.\n`,
    ],
    [
      'decisions.md',
      `${LIST}# Decisions\n\nThe context, the decision and its consequences, for what may surprise you.\n\n${decisions.join('\n')}\n`,
    ],
    ['readme.md', readFileSync('README.md', 'utf8').replaceAll('](docs/', '](')],
  ]);
}
