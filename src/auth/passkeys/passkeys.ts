import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { Repository } from 'typeorm';
import { LoginWays } from '../accounts/index.js';
import { Passkey } from './passkey.entity.js';

/** The passkeys of accounts, as they are stored. Nothing in it serves, so commands may use it. */
@Injectable()
export class Passkeys {
  constructor(
    @InjectRepository(Passkey) private readonly passkeys: Repository<Passkey>,
    ways: LoginWays,
  ) {
    ways.register((accountId) => this.count(accountId));
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
}
