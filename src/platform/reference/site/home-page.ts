import type { FieldError } from '../../http/errors/errors.js';
import type { Config, WriteAccessMode } from '../../config/config.js';
import { hasPage } from './header.js';
import { readPage } from './pages.js';

/** The pages of the service, and what they are for. */
const CARDS = [
  ['/guides', 'Guides', 'How to call, extend and run the service, with a search'],
  ['/docs', 'Reference', 'Every REST operation, to read and to try out'],
  ['/graphql', 'Playground', 'The GraphQL API, with examples that you can run'],
  ['/guides/events', 'Events', 'Every change, as a feed or a live stream'],
  ['/guides/events#webhooks', 'Webhooks', 'Events sent to your server, signed and retried'],
  ['/account/', 'Your account', 'Log in, manage passkeys, API keys and two-step login'],
  ['/health/ready', 'Health', 'Whether to send requests here, for probes'],
] as const;

const WRITERS: Record<WriteAccessMode, string> = {
  open: 'Everyone may write',
  authenticated: 'Accounts may write',
  staff: 'Staff may write',
};

const JSON_TYPE = "-H 'Content-Type: application/json'";

function commandsOf({ publicUrl, writeAccess }: Config): [text: string, command: string][] {
  return [
    writeAccess === 'open'
      ? [
          'Create a post',
          `curl -i ${publicUrl}/v1/posts ${JSON_TYPE} \\\n  -d '{"title": "Hello", "content": "World"}'`,
        ]
      : ['Read the posts', `curl -i '${publicUrl}/v1/posts?limit=2'`],
    [
      'Query users and their posts over GraphQL',
      `curl ${publicUrl}/graphql ${JSON_TYPE} \\\n  -d '{"query": "{ users(limit: 2) { name posts(limit: 2) { title } } }"}'`,
    ],
    ['Read what has changed', `curl '${publicUrl}/v1/events?limit=3'`],
  ];
}

/** The home page, complete but for its health. */
export function readHomePage(config: Config, version: string): string {
  const cards = CARDS.filter(([path]) => hasPage(path, config)).map(
    ([path, name, text]) => `<li><a href="${path}"><strong>${name}</strong> ${text}</a></li>`,
  );
  const commands = commandsOf(config).map(
    ([text, command]) =>
      `<li><p>${text}</p><div class="code"><pre tabindex="0"><code>${escape(command)}</code></pre></div></li>`,
  );
  return readPage('site/index.html', { path: '/' }, config)
    .replace('<!-- version -->', version)
    .replace('<!-- mode -->', config.production ? 'Production' : 'Development')
    .replace('<!-- writers -->', WRITERS[config.writeAccess])
    .replace('<!-- commands -->', () => commands.join(''))
    .replace('<!-- pages -->', cards.join(''));
}

export function withHealth(page: string, failures: readonly FieldError[]): string {
  const faults = failures.map(({ field, message }) => `${field} ${message}`).join('; ');
  return page
    .replace('<!-- state -->', faults === '' ? '' : 'bad')
    .replace('<!-- health -->', () =>
      faults === '' ? 'Healthy' : `Not ready for requests: ${escape(faults)}`,
    );
}

const escape = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;');
