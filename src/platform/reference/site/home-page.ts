import type { FieldError } from '../../http/errors/errors.js';
import type { Config, WriteAccessMode } from '../../config/config.js';
import { SERVICE } from '../../config/package.js';
import { hasPage } from './header.js';
import { completePage } from './pages.js';
import { hasApp, readPublic } from './public-files.js';

/** The pages of the service, and what they are for. */
const PAGES = [
  ['/guides', 'Guides', 'How to call, extend and run the service, with a search'],
  ['/docs', 'Reference', 'Every REST operation, to read and to try out'],
  ['/graphql', 'Playground', 'The GraphQL API, with examples that you can run'],
  ['/guides/events', 'Events', 'Every change, as a feed or a live stream'],
  ['/guides/webhooks', 'Webhooks', 'Events sent to your server, signed and retried'],
  ['/account/', 'Your account', 'Log in, manage passkeys, API keys and two-step login'],
  ['/admin/', 'Console', 'For staff; <code>npm run account -- create-superuser</code> makes the first'],
  ['/health/ready', 'Health', 'Whether to send requests here, for probes'],
] as const;

const WRITERS: Record<WriteAccessMode, string> = {
  open: 'Everyone may write',
  authenticated: 'Accounts may write',
  staff: 'Staff may write',
};

const JSON_TYPE = "-H 'Content-Type: application/json'";

/** Calls to copy; with a response where one shows what to expect. */
function callsOf({
  publicUrl,
  basePath,
  writeAccess,
}: Config): [text: string, command: string, response?: string][] {
  return [
    writeAccess === 'open'
      ? [
          'Create a post',
          `curl -i ${publicUrl}/v1/posts ${JSON_TYPE} \\\n  -d '{"title": "Hello", "content": "World"}'`,
          `HTTP/1.1 201 Created\nlocation: ${basePath}/v1/posts/1\n
{"data":{"id":1,"title":"Hello","content":"World","author_id":1,"status":"draft",
  "created_at":"2026-01-01T08:00:00.000Z","updated_at":"2026-01-01T08:00:00.000Z"}}`,
        ]
      : [
          'Read the posts',
          `curl -i '${publicUrl}/v1/posts?limit=2'`,
          `HTTP/1.1 200 OK\n
{"data":[{"id":1,"title":"Hello","content":"World", …}],
  "meta":{"total":1,"page":1,"limit":2,"has_next":false}}`,
        ],
    [
      'Query users and their posts over GraphQL',
      `curl ${publicUrl}/graphql ${JSON_TYPE} \\\n  -d '{"query": "{ users(limit: 2) { name posts(limit: 2) { title } } }"}'`,
    ],
    ['Read what has changed', `curl '${publicUrl}/v1/events?limit=3'`],
    ['Ask whether the service is ready', `curl ${publicUrl}/health/ready`],
  ];
}

/** The home page, complete but for its health. */
export function readHomePage(config: Config, version: string): string {
  const pages = PAGES.filter(([path]) => hasPage(path, config)).map(
    ([path, name, text]) => `<dt><a href="${path}">${name}</a></dt><dd>${text}</dd>`,
  );
  const calls = callsOf(config).map(([text, command, response]) => {
    const copied = `<div class="code"><pre tabindex="0"><code>${escape(command)}</code></pre></div>`;
    const shown = response === undefined ? '' : `<pre tabindex="0"><samp>${escape(response)}</samp></pre>`;
    return `<li><p>${text}</p>${copied}${shown}</li>`;
  });
  const html = readPublic('site/index.html')
    .replace('<!-- preview -->', previewOf(config))
    .replace('<!-- version -->', version)
    .replace('<!-- mode -->', config.production ? 'Production' : 'Development')
    .replace('<!-- writers -->', WRITERS[config.writeAccess])
    .replace('<!-- calls -->', () => calls.join(''))
    .replace('<!-- pages -->', pages.join(''))
    .replace(
      '<!-- app -->',
      hasApp ? '' : '<p>The account page and the console are not part of this build.</p>',
    );
  return completePage(html, { path: '/' }, config);
}

/** What other services show of a link to this page (https://ogp.me). */
function previewOf({ publicUrl }: Config): string {
  const properties = {
    'og:type': 'website',
    'og:title': SERVICE.title,
    'og:description': SERVICE.description,
    'og:url': `${publicUrl}/`,
    'og:image': `${publicUrl}/site/preview.png`,
  };
  return Object.entries(properties)
    .map(([name, content]) => `<meta property="${name}" content="${escape(content)}" />`)
    .join('');
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
