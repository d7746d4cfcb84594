import { Secret, TOTP } from 'otpauth';
import type { TestApi } from './api.js';

/** The code that an authenticator app shows; the offset is milliseconds from now. */
export const totpCode = (secret: string, offset = 0): string =>
  new TOTP({ secret: Secret.fromBase32(secret) }).generate({ timestamp: Date.now() + offset });

/** Turns on the second factor of an account, with a code of the present. @throws Error with the response if it stays off */
export async function turnOnFactor(
  api: TestApi,
  headers: Record<string, string>,
): Promise<{ readonly secret: string; readonly recovery_codes: string[] }> {
  const begun = await api.post('/auth/mfa/totp/', {}, headers);
  if (begun.status !== 200) throw new Error(`The second factor was not set up: ${begun.text}`);
  const { secret } = begun.body;
  const { status, text, body } = await api.post(
    '/auth/mfa/totp/confirm/',
    { code: totpCode(secret) },
    headers,
  );
  if (status !== 200) throw new Error(`The second factor was not turned on: ${text}`);
  return { secret, recovery_codes: body.recovery_codes };
}
