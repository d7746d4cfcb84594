/** The text before the hosts, the hosts, and the text after them. */
const PARTS = /^(postgres(?:ql)?:\/\/(?:[^/?#]*@)?)([^/?#]*)(.*)$/;

/** The values that mean a server that accepts writes, which this service requires. */
const WRITABLE = new Set(['read-write', 'primary']);

/**
 * The address of each host of `postgres://user:password@h1:5432,h2:5432/db`, without `target_session_attrs`, which the
 * driver does not support. The other parts are the same for all of them, as in libpq.
 *
 * @returns the text itself if it has another form
 */
export function serversOf(text: string): string[] {
  const [, start = text, hosts = '', end = ''] = PARTS.exec(text) ?? [];
  return hosts.split(',').map((host) => withoutSessionAttributes(start + host + end));
}

/** Whether the primary must be found among the servers, as in libpq. */
export const needsPrimary = (text: string): boolean =>
  serversOf(text).length > 1 || sessionAttributes(text) !== null;

export const isWritableTarget = (text: string): boolean =>
  WRITABLE.has(sessionAttributes(text) ?? 'read-write');

/** Those that the driver knows. It would treat any other like `verify-full`. */
export const SSL_MODES = ['disable', 'prefer', 'require', 'verify-ca', 'verify-full', 'no-verify'];

export function hasKnownSslMode(value: string): boolean {
  const mode = URL.parse(value)?.searchParams.get('sslmode') ?? undefined;
  return mode === undefined || SSL_MODES.includes(mode);
}

/** User, host and database are required: the driver would guess what is missing, and write the data there. */
export function isPostgresAddress(value: string): boolean {
  if (!/^postgres(ql)?:\/\//.test(value) || !URL.canParse(value)) return false;
  const { username, password, hostname, pathname, searchParams } = new URL(value);
  try {
    return (
      decodeURIComponent(username + password) !== '' &&
      (hostname !== '' || searchParams.has('host')) &&
      !/,/.test(hostname + (searchParams.get('host') ?? '')) &&
      decodeURIComponent(pathname).length > 1
    );
  } catch {
    return false;
  }
}

function sessionAttributes(text: string): string | null {
  return new URLSearchParams(/\?([^#]*)/.exec(text)?.[1]).get('target_session_attrs');
}

/** The rest of the address is unchanged. */
const withoutSessionAttributes = (address: string): string =>
  address.replace(/([?&])target_session_attrs=[^&#]*(&|$)/, (_, before: string, after: string) =>
    after === '' ? '' : before,
  );
