// Passkeys (WebAuthn) in the browser.

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

/** @returns why a passkey of this relying party cannot be used at the address of the page; `undefined` if it can */
export function wrongHost({ rp, rpId = rp?.id }) {
  const isRight = location.hostname === rpId || location.hostname.endsWith(`.${rpId}`);
  return isRight ? undefined : `Passkeys of this service belong to ${rpId}: open this page at that address.`;
}
