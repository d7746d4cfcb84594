// The calls of the account page, by the session cookie.

/** The value for `X-CSRF-Token`, which only pages of the service can read. */
let csrf = '';

export const useSession = ({ csrf_token }) => (csrf = csrf_token);

/** @returns the status and the parsed body; an error has a sentence for people */
export async function call(method, path, body) {
  try {
    const reply = await fetch(`../auth/${path}`, {
      method,
      headers: { 'x-csrf-token': csrf, ...(body && { 'content-type': 'application/json' }) },
      ...(body && { body: JSON.stringify(body) }),
    });
    const json = await reply.json().catch(() => undefined);
    const { error } = json ?? {};
    const message = typeof error === 'string' ? error : error?.message;
    return { ok: reply.ok, status: reply.status, code: error?.code, body: json, message: `${message}.` };
  } catch {
    return { ok: false, status: 0, message: 'The service does not respond. Try again in a moment.' };
  }
}

/** Like {@link call}; if the login is too old, it asks for the password, and repeats the call with it. */
export async function callRecently(method, path, body = {}) {
  const first = await call(method, path, body);
  if (first.status !== 403 || !/5 minutes/.test(first.message)) return first;
  const password = await askForPassword();
  return password === null
    ? { ...first, message: 'Nothing was changed.' }
    : call(method, path, { ...body, password });
}

/** @returns `null` if the person cancels */
function askForPassword() {
  const dialog = document.getElementById('confirm');
  const input = document.getElementById('confirm-password');
  input.value = '';
  dialog.returnValue = 'cancel';
  dialog.showModal();
  return new Promise((resolve) =>
    dialog.addEventListener('close', () => resolve(dialog.returnValue === 'go' ? input.value : null), {
      once: true,
    }),
  );
}

/** Runs a ceremony of WebAuthn. @returns the credential as JSON; `null` if the person cancels */
export async function credential(kind, json) {
  try {
    const publicKey =
      kind === 'create'
        ? PublicKeyCredential.parseCreationOptionsFromJSON(json)
        : PublicKeyCredential.parseRequestOptionsFromJSON(json);
    return (await navigator.credentials[kind]({ publicKey })).toJSON();
  } catch {
    return null;
  }
}

/** Whether a passkey of this relying party can be used at the address of the page. */
export const isPasskeyHost = ({ rp, rpId = rp?.id }) =>
  location.hostname === rpId || location.hostname.endsWith(`.${rpId}`);
