// The session of the browser, which all pages share: its cookie authenticates their calls.

/** Remembers that there is a session, because scripts cannot see its cookie, and a call without one is an error. */
const HINT = 'session';

const AUTH = new URL('../auth/', import.meta.url);

/** Emits `change` when somebody logs in or out, in this tab or another. */
export const session = Object.assign(new EventTarget(), { account: undefined, csrfToken: '' });

const NO_RESPONSE = 'The service does not respond. Try again in a moment.';

/** @param body of `GET /auth/session/` */
export function begin(body) {
  localStorage.setItem(HINT, 'on');
  set(body.account, body.csrf_token);
}

function end() {
  localStorage.removeItem(HINT);
  set(undefined, '');
}

function set(account, csrfToken) {
  Object.assign(session, { account, csrfToken });
  session.dispatchEvent(new Event('change'));
}

/**
 * Makes a call below `/auth/`.
 *
 * @param options more options of `fetch()`
 * @returns the status and the parsed body; an error has a sentence for people
 */
export async function call(method, path, body, options = {}) {
  try {
    const reply = await fetch(new URL(path, AUTH), {
      method,
      headers: { 'x-csrf-token': session.csrfToken, ...(body && { 'content-type': 'application/json' }) },
      ...(body && { body: JSON.stringify(body) }),
      ...options,
    });
    const json = await reply.json().catch(() => undefined);
    const { error } = json ?? {};
    const text = typeof error === 'string' ? error : error?.message;
    // An error page of a proxy has no message.
    const message = text ? `${text}.` : NO_RESPONSE;
    return { ok: reply.ok, status: reply.status, code: error?.code, body: json, message };
  } catch {
    return { ok: false, status: 0, message: NO_RESPONSE };
  }
}

/** @returns whether somebody is logged in */
export async function restore() {
  const reply = await call('GET', 'session/');
  if (reply.ok) begin(reply.body);
  else if (reply.status === 401) end();
  return reply.ok;
}

/** @returns the reply: after an error, the login goes on */
export async function logOut() {
  const reply = await call('DELETE', 'session/');
  if (reply.ok || reply.status === 401) end();
  return { ...reply, ok: reply.ok || reply.status === 401 };
}

/** Settles when {@link session} is what it was at the last page. */
export const restored = localStorage.getItem(HINT) === null ? Promise.resolve() : restore();

addEventListener('storage', ({ key }) => {
  if (key === HINT) void restore();
});
