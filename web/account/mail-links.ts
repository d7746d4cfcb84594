/** What a link in a mail is for. */
export type Purpose = 'verify-email' | 'change-email' | 'reset-password';

const PURPOSES: readonly string[] = ['verify-email', 'change-email', 'reset-password'] satisfies Purpose[];

export interface MailLink {
  readonly action: Purpose;
  readonly token: string;
}

/** Keeps the token for a reload of the page, and only in this tab. */
const KEY = 'mail-link';

/** Takes the link that opened the page out of its fragment. @returns false if the fragment is none of a link */
export function takeLink(hash: string): boolean {
  const parameters = new URLSearchParams(hash.slice(1));
  const [action, token] = [parameters.get('action'), parameters.get('token')];
  if (action === null && token === null) return false;
  if (token === null || !PURPOSES.includes(action ?? '')) forgetLink();
  else sessionStorage.setItem(KEY, JSON.stringify({ action, token }));
  return true;
}

/** The link that opened the page in this tab; `undefined` if it was incomplete. */
export const currentLink = (): MailLink | undefined =>
  JSON.parse(sessionStorage.getItem(KEY) ?? 'null') ?? undefined;

/** After its use, or when it does not work. */
export const forgetLink = (): void => sessionStorage.removeItem(KEY);
