/* global Scalar */
// The reference, by Scalar, at its documented options.

import { session } from './session.js';

/** Every operation may return them: the description of the whole API names them once. */
const COMMON = [429, 500, 503];

const WITHOUT_TOKEN = 'An API key or access token, or log in above.';

async function readReference() {
  const reference = await (await fetch(new URL('../openapi.json', import.meta.url))).json();
  const contentOf = ({ responses }, status) => JSON.stringify(responses[status]?.content);
  const plain = structuredClone(reference.paths['/'].get);
  for (const item of Object.values(reference.paths)) {
    for (const operation of Object.values(item)) {
      // Those with a reason of their own stay.
      for (const status of COMMON)
        if (contentOf(operation, status) === contentOf(plain, status)) delete operation.responses[status];
    }
  }
  return reference;
}

function reportFailure(error) {
  document.querySelector('.loading').textContent =
    'The reference cannot be loaded now. Reload the page in some seconds.';
  throw error;
}

/**
 * Sends a call with the token that was typed in, or else as the session: the browser adds its cookie. What is added here
 * is in no code that the page shows.
 */
function send(input, init) {
  const request = new Request(input, init);
  const { headers } = request;
  // Scalar sends the scheme without a token, too.
  if (headers.get('authorization') === 'Bearer') headers.delete('authorization');
  const isChange = !/^(GET|HEAD)$/.test(request.method);
  if (isChange && session.csrfToken && !headers.has('authorization'))
    headers.set('X-CSRF-Token', session.csrfToken);
  return fetch(request);
}

Scalar.createApiReference('#main', {
  content: await readReference().catch(reportFailure),
  customFetch: send,
  authentication: {
    preferredSecurityScheme: 'bearer',
    securitySchemes: { bearer: { description: WITHOUT_TOKEN } },
  },
  theme: 'none',
  withDefaultFonts: false,
  hideDarkModeToggle: true,
  hideClientButton: true,
  showDeveloperTools: 'never',
  telemetry: false,
  agent: { disabled: true },
  mcp: { disabled: true },
});
