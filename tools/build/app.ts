import { existsSync } from 'node:fs';
import { buildFolder, runTool } from './folder.ts';

/** Builds the account page and the console from `web` into `public/app`, if the sources have changed. */
export async function buildApp(): Promise<void> {
  if (!existsSync('web')) return;
  await buildFolder('public/app', ['web/**/*'], (made) =>
    runTool('vite/bin/vite.js', [
      'build',
      '--config',
      'web/vite.config.ts',
      '--outDir',
      `${process.cwd()}/${made}`,
    ]),
  );
}
