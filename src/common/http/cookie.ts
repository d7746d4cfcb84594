import { parseCookie, type SetCookie, stringifySetCookie } from 'cookie';
import type { FastifyReply, FastifyRequest } from 'fastify';

/**
 * A cookie of ours (RFC 6265bis): out of reach of scripts, and not sent along by other sites but where they
 * link to us. In production it takes HTTPS, and by its `__Host-` prefix no neighbouring host can set it.
 */
export class Cookie {
  private readonly attributes: SetCookie;

  /** @param maxAge how long the browser keeps it, in seconds */
  constructor(name: string, maxAge: number, { production }: { readonly production: boolean }) {
    this.attributes = {
      name: production ? `__Host-${name}` : name,
      value: '',
      maxAge,
      path: '/',
      httpOnly: true,
      sameSite: 'lax',
      secure: production,
    };
  }

  read({ headers: { cookie } }: FastifyRequest): string | undefined {
    return cookie === undefined ? undefined : parseCookie(cookie)[this.attributes.name];
  }

  /** @param value of letters, digits, `.`, `-` and `_` */
  write(reply: FastifyReply, value: string): void {
    reply.header('set-cookie', stringifySetCookie({ ...this.attributes, value }));
  }

  clear(reply: FastifyReply): void {
    reply.header('set-cookie', stringifySetCookie({ ...this.attributes, maxAge: 0 }));
  }
}
