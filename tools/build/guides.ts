import { createHash } from 'node:crypto';
import { cpSync, globSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { morePages } from '../../docs/.vitepress/navigation.ts';
import { buildFolder, runTool } from './folder.ts';

/** Beside the documents: a list of the pages, and the name of the service. */
const MORE = ['README.md', 'package.json'];

/**
 * Builds the guides from `docs` into `public/guides`, if the sources have changed, with the hashes of their inline
 * scripts.
 */
export function buildGuides(): Promise<void> {
  return buildFolder(
    'public/guides',
    [...MORE, 'docs/**/*.md', 'docs/.vitepress/*.{ts,json}', 'docs/.vitepress/theme/*'],
    async (made) => {
      // VitePress has a temporary folder beside its sources, which two builds at once would share.
      const copy = `${made}-sources`;
      try {
        for (const path of [...MORE, 'docs']) cpSync(path, `${copy}/${path}`, { recursive: true });
        // The compiler of VitePress does not know the target of ours.
        writeFileSync(`${copy}/tsconfig.json`, '{}');
        for (const [file, text] of morePages()) writeFileSync(`${copy}/docs/${file}`, text);
        const options = ['build', 'docs', '--outDir', `${process.cwd()}/${made}`];
        await runTool('vitepress/bin/vitepress.js', options, copy);
        writeFileSync(`${made}/script-hashes.json`, JSON.stringify(hashesOf(globSync(`${made}/**/*.html`))));
      } finally {
        rmSync(copy, { recursive: true, force: true });
      }
    },
  );
}

/** The hashes by which a Content-Security-Policy allows the inline scripts of pages. */
function hashesOf(pages: readonly string[]): string[] {
  const scripts = pages.flatMap((page) =>
    [...readFileSync(page, 'utf8').matchAll(/<script(?![^>]* src=)[^>]*>(.*?)<\/script>/gs)].map(
      ([, script]) => script!,
    ),
  );
  return [...new Set(scripts)].map(
    (script) => `'sha256-${createHash('sha256').update(script).digest('base64')}'`,
  );
}
