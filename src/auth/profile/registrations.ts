import { Injectable } from '@nestjs/common';
import { AppError } from '../../platform/http/errors/errors.js';
import { Clock } from '../../platform/jobs/clock.js';
import { Config } from '../../platform/config/config.js';
import { AccountMails, MailLimits } from '../account-mails/index.js';
import { type Account, AccountsService, REGISTRATION_CLOSED, type RegisterInput } from '../accounts/index.js';

/** How long after its registration an account may have an e-mail that is not verified, in milliseconds. */
const VERIFY_WITHIN = 7 * 24 * 3600_000;

@Injectable()
export class Registrations {
  constructor(
    private readonly accounts: AccountsService,
    private readonly mails: AccountMails,
    private readonly limits: MailLimits,
    private readonly config: Config,
    private readonly clock: Clock,
  ) {}

  /**
   * Creates an account, and sends a confirmation link to its address.
   *
   * @param address of the client
   * @throws AppError as {@link AccountsService.register}, `FORBIDDEN` if registration is closed
   */
  async register(input: RegisterInput, address: string): Promise<Account> {
    const { registrationOpen, requireVerifiedEmail } = this.config;
    if (!registrationOpen) throw new AppError('FORBIDDEN', REGISTRATION_CLOSED, { isDenial: false });
    const verifyUntil = new Date(this.clock.now().getTime() + VERIFY_WITHIN);
    return this.accounts.register(input, {
      address,
      verifyUntil: requireVerifiedEmail ? verifyUntil : null,
      onCreated: async (account) => {
        const seconds = await this.limits.take('addresses', account.email, address);
        if (seconds === 0) await this.mails.verifyEmail(account);
      },
    });
  }
}
