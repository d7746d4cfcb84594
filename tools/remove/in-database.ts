import { existsSync } from 'node:fs';
import { pathToFileURL } from 'node:url';

/** What the configured database still has of a module, if there is one; `resources` are the first parts of its events. */
export async function inDatabase(
  resources: readonly string[],
  subscribers: readonly string[],
): Promise<string[]> {
  const load = (path: string) => import(pathToFileURL(`dist/${path}`).href);
  const { loadStoreConfig, describeStore } = await load('platform/config/store.js');
  const { readEnvFile } = await load('platform/config/env-file.js');
  const { commandDataSource, isMissing } = await load('platform/database/data-source.js');
  readEnvFile(process.env);
  const config = loadStoreConfig(process.env);
  const where = describeStore(config.store);
  if (isMissing(config.store)) return [];
  try {
    const source = await commandDataSource(config).initialize();
    const webhooks: { id: number; url: string; types: string }[] = existsSync('src/webhooks')
      ? await source.query('SELECT * FROM webhooks')
      : [];
    const positions: { name: string }[] = await source.query('SELECT name FROM event_subscribers');
    await source.destroy();
    return [
      ...webhooks
        .filter(({ types }) => resources.some((resource) => types.includes(`"${resource}.`)))
        .map(
          ({ id, url, types }) => `webhook ${id} to ${url}, with ${JSON.parse(types).join(', ')} (${where})`,
        ),
      ...positions
        .filter(({ name }) => subscribers.includes(name))
        .map(({ name }) => `the position of the durable subscriber ${name} (${where})`),
    ];
  } catch (error) {
    return [`what may be in ${where}, which cannot be read: ${(error as Error).message}`];
  }
}
