// The session of the browser, which all pages share: its cookie authenticates their calls. The account page begins and ends
// it.

/** Remembers that there is a session, because scripts cannot see its cookie, and a call without one is an error. */
const HINT = 'session';

/** A proxy may serve the pages below a path. */
const ADDRESS = new URL('../auth/session/', import.meta.url);

/** Emits `change` when somebody logs in or out in another tab. */
export const session = Object.assign(new EventTarget(), { account: undefined, csrfToken: '' });

async function restore() {
  if (localStorage.getItem(HINT) === null) return set(undefined, '');
  const reply = await fetch(ADDRESS).catch(() => undefined);
  if (reply?.status === 401) localStorage.removeItem(HINT);
  if (!reply?.ok) return set(undefined, '');
  const { account, csrf_token } = await reply.json();
  return set(account, csrf_token);
}

function set(account, csrfToken) {
  Object.assign(session, { account, csrfToken });
  session.dispatchEvent(new Event('change'));
}

/** Settles when {@link session} is known. */
export const restored = restore();

addEventListener('storage', ({ key }) => {
  if (key === HINT) void restore();
});
