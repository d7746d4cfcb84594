import { IncomingMessage, ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import helmet from 'helmet';

/** JSON loads nothing and is never framed. */
const API_POLICY = { defaultSrc: ["'none'"], frameAncestors: ["'none'"] };

/**
 * What helmet sends for an API. It is asked once: the headers are the same on every answer, and writing
 * them through it each time costs a tenth of a small request.
 */
export function securityHeaders(): Record<string, string> {
  const request = new IncomingMessage(new Socket());
  const response = new ServerResponse(request);
  const setHeaders = helmet({
    contentSecurityPolicy: { directives: API_POLICY, useDefaults: false },
    // Who may read the answers is a matter of CORS.
    crossOriginResourcePolicy: { policy: 'cross-origin' },
  });
  setHeaders(request, response, () => undefined);
  return { ...response.getHeaders() } as Record<string, string>;
}
