import { IncomingMessage, ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import helmet from 'helmet';

/**
 * What protects the callers of an API (OWASP REST Security Cheat Sheet, "Security Headers"): nothing that it
 * responds is loaded, framed, guessed at or sent in the clear. What else helmet sends is about pages.
 */
export const API_HEADERS: Readonly<Record<string, string>> = {
  'content-security-policy': "default-src 'none';frame-ancestors 'none'",
  // A browser that is redirected, as by a social login, must not pass on where from.
  'referrer-policy': 'no-referrer',
  'strict-transport-security': 'max-age=31536000; includeSubDomains',
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
};

/** A page and its parts come from this service, and it talks to nobody else. */
const PAGE_POLICY = {
  defaultSrc: ["'none'"],
  scriptSrc: ["'self'"],
  styleSrc: ["'self'"],
  connectSrc: ["'self'"],
  imgSrc: ["'self'", 'data:'],
  fontSrc: ['data:'],
  baseUri: ["'none'"],
  formAction: ["'none'"],
  frameAncestors: ["'none'"],
};

/** All that helmet sends for a page. Asked once: the headers are the same for each. */
export const PAGE_HEADERS: Readonly<Record<string, string>> = headersOf(
  helmet({
    contentSecurityPolicy: { directives: PAGE_POLICY, useDefaults: false },
    xFrameOptions: { action: 'deny' },
  }),
);

function headersOf(setHeaders: ReturnType<typeof helmet>): Record<string, string> {
  const request = new IncomingMessage(new Socket());
  const response = new ServerResponse(request);
  setHeaders(request, response, () => undefined);
  return { ...response.getHeaders() } as Record<string, string>;
}
