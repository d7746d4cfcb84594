import type { Schemas } from '../api.js';

/** Registers a passkey. @returns the credential as JSON; `null` if the person cancels */
export const createPasskey = (json: unknown): Promise<Schemas['RegisterPasskeyInput']['response'] | null> =>
  asJson(() =>
    navigator.credentials.create({
      publicKey: PublicKeyCredential.parseCreationOptionsFromJSON(
        json as PublicKeyCredentialCreationOptionsJSON,
      ),
    }),
  );

/**
 * Logs in with a passkey.
 *
 * @param autofill offers passkeys in the suggestions of the e-mail field, until it is aborted
 * @returns the credential as JSON; `null` if the person cancels
 */
export const getPasskey = (
  json: unknown,
  autofill?: AbortSignal,
): Promise<Schemas['PasskeySessionInput']['passkey'] | null> =>
  asJson(() =>
    navigator.credentials.get({
      publicKey: PublicKeyCredential.parseRequestOptionsFromJSON(
        json as PublicKeyCredentialRequestOptionsJSON,
      ),
      ...(autofill && { mediation: 'conditional', signal: autofill }),
    }),
  );

async function asJson<T>(run: () => Promise<Credential | null>): Promise<T | null> {
  try {
    return ((await run()) as PublicKeyCredential).toJSON() as T;
  } catch {
    return null;
  }
}

/** Whether the browser can suggest passkeys in the e-mail field. */
export const canSuggestPasskeys = async (): Promise<boolean> =>
  (await globalThis.PublicKeyCredential?.isConditionalMediationAvailable?.()) ?? false;

/** Why a passkey of this relying party cannot be used at the address of the page; `undefined` if it can. */
export function wrongHost({
  rp,
  rpId = rp?.id,
}: {
  rp?: { id?: string };
  rpId?: string;
}): string | undefined {
  const isRight = location.hostname === rpId || location.hostname.endsWith(`.${rpId}`);
  return isRight ? undefined : `Passkeys of this service belong to ${rpId}. Open this page at that address.`;
}
