import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { Repository } from 'typeorm';
import { AccountsService, LoginWays } from '../accounts/index.js';
import { Passkey } from './passkey.entity.js';

/** The passkeys of accounts, as they are stored. Nothing in it serves, so commands may use it. */
@Injectable()
export class Passkeys {
  constructor(
    @InjectRepository(Passkey) private readonly passkeys: Repository<Passkey>,
    ways: LoginWays,
    accounts: AccountsService,
  ) {
    ways.register((accountId) => this.count(accountId));
    accounts.onVerified(async (accountId) => {
      await this.passkeys.update({ accountId }, { addedUnverified: true });
    });
  }

  count(accountId: number): Promise<number> {
    return this.passkeys.countBy({ accountId });
  }

  list(accountId: number): Promise<Passkey[]> {
    return this.passkeys.find({ where: { accountId }, order: { id: 'ASC' } });
  }

  async removeAll(accountId: number): Promise<void> {
    await this.passkeys.delete({ accountId });
  }

  /** Removes those that were added before the e-mail was verified. @returns whether there were any */
  async removeUnverified(accountId: number): Promise<boolean> {
    const { affected } = await this.passkeys.delete({ accountId, addedUnverified: true });
    return affected !== 0;
  }
}
