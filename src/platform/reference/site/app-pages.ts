import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { Config } from '../../config/config.js';
import { SERVICE } from '../../config/package.js';
import { hasBuiltFile, readBuilt, sendNotBuilt, sendNotFound } from './built-pages.js';
import { hasPage } from './header.js';
import { APP_HEADERS, completePage, sendHtml } from './pages.js';

/**
 * The pages that are built from `web`: the account page, unless a front end has it, to which links in mails lead, and the
 * console for staff.
 */
export function serveApp(fastify: FastifyInstance, config: Config): void {
  fastify.get<{ Params: { '*': string } }>('/app/assets/*', (request, reply) => {
    const file = `app/assets/${request.params['*']}`;
    return hasBuiltFile(file) ? reply.sendFile(file) : sendNotFound(request, reply, config);
  });
  for (const [name, what] of Object.entries({ account: 'The account page is', admin: 'The console is' })) {
    if (!hasPage(`/${name}/`, config)) continue;
    fastify.get(`/${name}`, { config: { noStore: true } }, async (request, reply) => {
      const html = await readBuilt(`app/${name}.html`);
      if (html === undefined) return sendNotBuilt(what, request, reply, config);
      return sendHtml(reply, fillIn(html, request, config), APP_HEADERS);
    });
  }
  // Password managers open it (https://w3c.github.io/webappsec-change-password-url/).
  if (hasPage('/account/', config))
    fastify.get('/.well-known/change-password', (_, reply) => reply.redirect('/account/#password'));
}

function fillIn(html: string, { url }: FastifyRequest, config: Config): string {
  const { graphql, accountLinksUrl } = config;
  // Relative addresses hold below any path of a proxy; each page is also served without the slash at the end.
  const basePath = /^[^?]*\/(?:\?|$)/.test(url) ? '..' : '.';
  // Those of its files are relative to where they are built.
  return completePage(
    html.replaceAll(/(?<= (?:href|src)=")\.\//g, '/app/'),
    {},
    { graphql, accountLinksUrl, basePath },
  )
    .replaceAll('<!-- service -->', SERVICE.title)
    .replace('<!-- password policy -->', config.passwordPolicy)
    .replace('<!-- registration -->', config.registrationOpen ? 'open' : 'closed');
}
