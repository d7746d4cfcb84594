import { Controller, Get, Headers, Res, VERSION_NEUTRAL } from '@nestjs/common';
import { ApiOperation, ApiTags } from '@nestjs/swagger';
import type { FastifyReply } from 'fastify';
import { Public } from '../../access/index.js';
import { varyOn } from '../../http/cache-headers.js';
import { Returns } from '../../http/openapi/returns.js';
import { Config } from '../../config/config.js';
import { SERVICE } from '../../config/package.js';
import { Readiness } from '../../operations/readiness.service.js';
import { hasPage } from './header.js';
import { HomeView, LINKS } from './home.view.js';
import { readHomePage, withHealth } from './home-page.js';
import { PAGE_HEADERS } from './pages.js';

/** The address of the service description (RFC 8631). */
const LINK_HEADER = [
  '</openapi.json>; rel="service-desc"; type="application/json"',
  '</docs>; rel="service-doc"; type="text/html"',
  '</health/ready>; rel="status"',
].join(', ');

/** The home page: what runs here, whether it is healthy, and where to go on. */
@ApiTags('Health')
@Controller({ version: VERSION_NEUTRAL })
@Public()
export class HomeController {
  private readonly links: HomeView['links'];
  private readonly page: string;

  constructor(
    private readonly readiness: Readiness,
    config: Config,
  ) {
    const shown = Object.entries(LINKS).filter(([, { href }]) => hasPage(href, config));
    this.links = Object.fromEntries(
      shown.map(([name, link]) => [name, { ...link, href: config.basePath + link.href }]),
    );
    this.page = readHomePage(config, SERVICE.version);
  }

  @Get()
  @ApiOperation({ summary: 'Describes this service and links to its pages' })
  @Returns(HomeView, ['application/json', 'text/html'])
  async read(
    @Headers('accept') accept: string | undefined,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<HomeView | string> {
    varyOn(reply, 'Accept');
    reply.header('link', LINK_HEADER);
    const failures = await this.readiness.failures();
    if (accept?.includes('text/html')) {
      reply.headers(PAGE_HEADERS).type('text/html; charset=utf-8');
      return withHealth(this.page, failures);
    }
    return {
      name: SERVICE.title,
      version: SERVICE.version,
      status: failures.length > 0 ? 'unavailable' : 'ok',
      links: this.links,
    };
  }
}
