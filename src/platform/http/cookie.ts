import { parseCookie, type SetCookie, stringifySetCookie } from 'cookie';
import type { FastifyReply, FastifyRequest } from 'fastify';

/**
 * A cookie (RFC 6265bis) that scripts cannot read, and that requests from other sites do not carry, except for
 * links. In production it requires HTTPS, and its `__Host-` prefix prevents other hosts of the domain from setting it.
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
