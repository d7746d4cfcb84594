import { Injectable } from '@nestjs/common';
import { Config } from '../../platform/config/config.js';
import { AppError } from '../../platform/http/errors/errors.js';
import { Clock } from '../../platform/jobs/clock.js';
import { type Account } from '../account.entity.js';
import { AccountsService, REGISTRATION_CLOSED } from '../accounts.service.js';
import { normalizeEmail } from '../email-address.js';
import { EmailVerification } from '../email-verification.js';
import { Passwords } from './passwords.js';
import type { RegisterInput } from './password.input.js';

/** How long after its registration an account may have an e-mail that is not verified, in milliseconds. */
const VERIFY_WITHIN = 7 * 24 * 3600_000;

/** Creates accounts with a password, which `PasswordPolicy` has accepted: checking it twice costs too much. */
@Injectable()
export class Registrations {
  constructor(
    private readonly accounts: AccountsService,
    private readonly passwords: Passwords,
    private readonly verification: EmailVerification,
    private readonly config: Config,
    private readonly clock: Clock,
  ) {}

  /**
   * Creates an account, and sends a confirmation link to its address.
   *
   * @param address of the client
   */
  async register(input: RegisterInput, address: string): Promise<Account> {
    const { registrationOpen, requireVerifiedEmail } = this.config;
    if (!registrationOpen) throw new AppError('FORBIDDEN', REGISTRATION_CLOSED, { isDenial: false });
    const verifyUntil = new Date(this.clock.now().getTime() + VERIFY_WITHIN);
    return this.accounts.create(
      { ...(await this.fieldsOf(input, address)), verifyUntil: requireVerifiedEmail ? verifyUntil : null },
      async (account) => {
        await this.verification.send(account, address);
      },
    );
  }

  /** Creates an account for an operator. */
  async create(input: RegisterInput, { superuser }: { superuser: boolean }): Promise<Account> {
    return this.accounts.create({ ...(await this.fieldsOf(input)), superuser });
  }

  private async fieldsOf({ email, name, phone, password }: RegisterInput, address?: string) {
    const passwordHash = await this.passwords.hash(password, address);
    return { email: normalizeEmail(email)!, name, phone, passwordHash };
  }
}
