/** Up to the hosts, the hosts, and what follows them. */
const PARTS = /^(postgres(?:ql)?:\/\/(?:[^/?#]*@)?)([^/?#]*)(.*)$/;

/** Which servers libpq would choose from a list; this service writes. */
const WRITABLE = new Set(['read-write', 'primary']);

/**
 * One address for each host of `postgres://user:password@h1:5432,h2:5432/db`, without `target_session_attrs`, which the
 * driver does not have. Everything else is the same for all of them, as for libpq.
 *
 * @returns the text itself where it has no such form
 */
export function serversOf(text: string): string[] {
  const [, start = text, hosts = '', end = ''] = PARTS.exec(text) ?? [];
  return hosts.split(',').map((host) => withoutSessionAttributes(start + host + end));
}

/** Whether the server is to be checked and looked for, as libpq does. */
export const needsPrimary = (text: string): boolean =>
  serversOf(text).length > 1 || sessionAttributes(text) !== null;

export const isWritableTarget = (text: string): boolean =>
  WRITABLE.has(sessionAttributes(text) ?? 'read-write');

/** Who, where and which database: the driver would make up what is missing, and the data would go there. */
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

/** The rest stays as it was written. */
const withoutSessionAttributes = (address: string): string =>
  address.replace(/([?&])target_session_attrs=[^&#]*(&|$)/, (_, before: string, after: string) =>
    after === '' ? '' : before,
  );
