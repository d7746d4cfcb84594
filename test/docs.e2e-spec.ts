import { existsSync, globSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from '@jest/globals';

const files = globSync('**/*.md', { exclude: ['node_modules/**', 'data/**'] });

/** As GitHub makes them of headings. */
const anchorsOf = (file: string): string[] =>
  [...readFileSync(file, 'utf8').matchAll(/^#+ (.+)$/gm)].map(([, heading]) =>
    heading!
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N} _-]/gu, '')
      .replaceAll(' ', '-'),
  );

describe.each(files)('%s', (file) => {
  it('links to what is there', () => {
    const broken = [...readFileSync(file, 'utf8').matchAll(/\]\(([^)\s]+)\)/g)]
      .map(([, link]) => link!)
      .filter((link) => !/^[a-z]+:/.test(link))
      .filter((link) => {
        const [path = '', anchor] = link.split('#');
        const target = path === '' ? file : join(dirname(file), path);
        return !existsSync(target) || (anchor !== undefined && !anchorsOf(target).includes(anchor));
      });

    expect(broken).toEqual([]);
  });
});
