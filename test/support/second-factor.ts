import { Secret, TOTP } from 'otpauth';
import { bearer, PASSWORD } from './accounts.js';
import type { Reply, TestApi } from './api.js';

/** The code that an authenticator app shows; the offset is milliseconds from now. */
export const totpCode = (secret: string, offset = 0): string => codeAt(new Date(Date.now() + offset), secret);

const codeAt = (time: Date, secret: string): string =>
  new TOTP({ secret: Secret.fromBase32(secret) }).generate({ timestamp: time.getTime() });

/** Turns on the second factor of an account. @throws Error with the response if it stays off */
export async function turnOnFactor(
  api: TestApi,
  headers: Record<string, string>,
): Promise<{ readonly secret: string; readonly recovery_codes: string[] }> {
  const { secret } = ok(await api.post('/auth/mfa/totp/', {}, headers));
  const code = codeAt(api.now, secret);
  const { recovery_codes } = ok(await api.post('/auth/mfa/totp/confirm/', { code }, headers));
  return { secret, recovery_codes };
}

/** The body of a response with status 200. */
function ok({ status, text, body }: Reply): any {
  if (status !== 200) throw new Error(`The call was not successful: ${status} ${text}`);
  return body;
}

/** The time for which a code is shown, in milliseconds. */
export const STEP = 30_000;

/** Somebody with a verified address, who logs in with a second factor. */
export class FactorOwner {
  private static count = 0;

  private constructor(
    private readonly api: TestApi,
    readonly email: string,
    readonly headers: Record<string, string>,
  ) {}

  static async register(api: TestApi): Promise<FactorOwner> {
    const email = `factor${++FactorOwner.count}@example.com`;
    await api.accounts.register(email);
    await api.accounts.admin().verifyEmail(email);
    return new FactorOwner(api, email, bearer((await api.accounts.login(email)).access));
  }

  async status(): Promise<any> {
    return (await this.api.get('/auth/mfa/', this.headers)).body.data;
  }

  async setUp(): Promise<string> {
    return ok(await this.api.post('/auth/mfa/totp/', {}, this.headers)).secret;
  }

  confirm(code: unknown): Promise<Reply> {
    return this.api.post('/auth/mfa/totp/confirm/', { code }, this.headers);
  }

  /** Turns the factor on, and moves the clock to the next step, so that a new code is valid. */
  async turnOn(): Promise<{ secret: string; recovery: string[] }> {
    const { secret, recovery_codes: recovery } = await turnOnFactor(this.api, this.headers);
    this.api.advanceClock(STEP);
    return { secret, recovery };
  }

  /** The code by the clock of the service; the offset is in milliseconds. */
  codeOf(secret: string, offset = 0): string {
    return codeAt(new Date(this.api.now.getTime() + offset), secret);
  }

  /** Logs in with the password. @returns the token for the second step */
  async begin(path = '/auth/login/'): Promise<string> {
    return ok(await this.api.post(path, { email: this.email, password: PASSWORD })).mfa_token;
  }

  complete(mfa_token: string, code: string): Promise<Reply> {
    return this.api.post('/auth/login/', { mfa_token, code });
  }
}
