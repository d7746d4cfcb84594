import type { Reply } from '../api.js';
import type { Service } from '../service.js';

/** The service, in this process or in another one. */
interface Site {
  readonly config: { readonly publicUrl: string };
  get(path: string, headers: Record<string, string>): Promise<Reply>;
}

/** A service in another process, at the public address of a browser. */
export const siteOf = (service: Service, publicUrl: string): Site => ({
  config: { publicUrl },
  get: async (path, headers) => {
    const reply = await service.fetch(path, { headers, redirect: 'manual' });
    const text = await reply.text();
    return { status: reply.status, headers: Object.fromEntries(reply.headers), body: text, text };
  },
});

/** A browser without scripts: keeps the cookies of each site, and follows the redirects and forms of a login. */
export class Visitor {
  private readonly jars = new Map<string, Map<string, string>>();

  constructor(private readonly api: Site) {}

  /** The cookies of a site, as a header value. */
  cookies(origin: string): string {
    return [...(this.jars.get(origin) ?? [])].map(([name, value]) => `${name}=${value}`).join('; ');
  }

  /** Starts a login. @returns the URL of the provider that the service redirects to */
  async start(provider: string): Promise<string> {
    const { status, headers, text } = await this.get(`/auth/social/${provider}/`);
    if (status !== 302) throw new Error(`The login did not start: ${status} ${text}`);
    return headers['location']!;
  }

  /** Logs in at the provider, and grants what it asks for. @returns the callback URL of the service */
  async logInAt(address: string, login: string): Promise<string> {
    let url = address;
    for (let form: URLSearchParams | undefined; ;) {
      const reply = await this.fetch(url, form);
      const location = reply.headers.get('location');
      const page = await reply.text();
      if (location !== null) {
        url = new URL(location, url).href;
        if (url.startsWith(this.api.config.publicUrl)) return url;
        form = undefined;
        continue;
      }
      const action = /action="([^"]+)"/.exec(page)?.[1];
      if (action === undefined) throw new Error(`The provider has no form: ${reply.status} ${page}`);
      url = new URL(action, url).href;
      form = new URLSearchParams({ prompt: page.includes('value="login"') ? 'login' : 'consent', login });
    }
  }

  /** Runs a whole login. @returns the response to the callback */
  async logIn(provider: string, login = ''): Promise<Reply> {
    return this.get(await this.logInAt(await this.start(provider), login));
  }

  /** Requests a public URL or a path of the service. */
  async get(url: string, headers: Record<string, string> = {}): Promise<Reply> {
    const { publicUrl } = this.api.config;
    const { pathname, search } = new URL(url, publicUrl);
    const reply = await this.api.get(pathname + search, { cookie: this.cookies(publicUrl), ...headers });
    this.keep(publicUrl, [reply.headers['set-cookie'] ?? ''].flat());
    return reply;
  }

  private async fetch(url: string, body: URLSearchParams | undefined): Promise<Response> {
    const { origin } = new URL(url);
    const reply = await fetch(url, {
      headers: { cookie: this.cookies(origin) },
      redirect: 'manual',
      ...(body && { method: 'POST', body }),
    });
    this.keep(origin, reply.headers.getSetCookie());
    return reply;
  }

  /** Stores the cookies of a response. */
  keep(origin: string, setCookies: readonly string[]): void {
    const jar = this.jars.get(origin) ?? new Map<string, string>();
    this.jars.set(origin, jar);
    for (const [, name, value, rest] of setCookies.flatMap((line) => [
      ...line.matchAll(/^([^=]+)=([^;]*)(.*)$/g),
    ])) {
      if (/max-age=0|expires=Thu, 01 Jan 1970/i.test(rest!)) jar.delete(name!);
      else jar.set(name!, value!);
    }
  }
}
