import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import type { PublicKeyCredentialCreationOptionsJSON } from '@simplewebauthn/server';
import { Repository } from 'typeorm';
import { AccountData, type Principal, type RecentInput, RecentLogins } from '../../platform/access/index.js';
import { isDuplicate } from '../../platform/database/failures.js';
import type { ClientInfo } from '../../platform/http/request-context.js';
import { AppError } from '../../platform/http/errors/errors.js';
import { idOrUnknown } from '../../platform/http/validation/id.js';
import { Clock } from '../../platform/jobs/clock.js';
import { AccountChanges } from '../account-changes.js';
import type { Account } from '../account.entity.js';
import { Passkey } from './passkey.entity.js';
import type { RegisterPasskeyInput } from './passkey.input.js';
import { WebAuthn } from './webauthn.js';

/** The maximum number of passkeys of an account. */
const MAX_PASSKEYS = 50;

export const TOO_MANY_PASSKEYS = `An account has at most ${MAX_PASSKEYS} passkeys; delete one first`;
export const NO_SUCH_PASSKEY = 'Your account has no passkey with this id';
export const WRONG_RESPONSE =
  'The response is invalid, or its challenge was used or has expired; start again';

/** The passkeys of accounts. */
@Injectable()
export class PasskeysService {
  constructor(
    @InjectRepository(Passkey) private readonly passkeys: Repository<Passkey>,
    private readonly webauthn: WebAuthn,
    private readonly recent: RecentLogins,
    private readonly changes: AccountChanges,
    private readonly data: AccountData,
    private readonly clock: Clock,
  ) {}

  list(accountId: number): Promise<Passkey[]> {
    return this.passkeys.find({ where: { accountId }, order: { id: 'ASC' } });
  }

  count({ id: accountId }: Pick<Account, 'id'>): Promise<number> {
    return this.passkeys.countBy({ accountId });
  }

  async options(
    caller: Principal,
    input: RecentInput,
    client: ClientInfo,
  ): Promise<PublicKeyCredentialCreationOptionsJSON> {
    this.webauthn.requireDomain();
    await this.recent.require(caller, input, client);
    const { id } = caller.account;
    return this.changes.run(id, {}, async (account) =>
      this.webauthn.registrationOptions(account, await this.list(id)),
    );
  }

  async register(caller: Principal, { response, name }: RegisterPasskeyInput): Promise<Passkey> {
    const accountId = caller.account.id;
    const credential = await this.webauthn.verifyRegistration(accountId, response);
    if (!credential) throw wrongResponse();
    const passkey = this.passkeys.create({
      ...credential,
      accountId,
      name: name ?? 'Passkey',
      createdAt: this.clock.now(),
      lastUsedAt: null,
    });
    const traces = {
      notice: 'passkey-added',
      subject: pathOf,
      security: ['passkey_changed', 'added'],
    } as const;
    try {
      return await this.changes.addAccess(caller, traces, async (owner) => {
        if ((await this.count(owner)) >= MAX_PASSKEYS) throw new AppError('CONFLICT', TOO_MANY_PASSKEYS);
        await this.passkeys.insert(passkey);
        return passkey;
      });
    } catch (error) {
      if (!isDuplicate(error)) throw error;
      throw wrongResponse(error);
    }
  }

  /** @param id as in the path */
  async remove(caller: Principal, id: string, input: RecentInput, client: ClientInfo): Promise<void> {
    await this.recent.require(caller, input, client);
    const traces = {
      notice: 'passkey-removed',
      subject: pathOf,
      security: ['passkey_changed', 'removed'],
    } as const;
    await this.changes.run(caller.account.id, traces, async (account) => {
      const passkey = await this.passkeys.findOneBy({ id: idOrUnknown(id), accountId: account.id });
      if (!passkey) throw new AppError('NOT_FOUND', NO_SUCH_PASSKEY);
      await this.data.requireAnotherWay(account);
      await this.passkeys.delete({ id: passkey.id });
      return passkey;
    });
  }

  /** Marks what was added until the owner is confirmed. */
  async markUnconfirmed({ id: accountId }: Pick<Account, 'id'>): Promise<void> {
    await this.passkeys.update({ accountId }, { addedUnconfirmed: true });
  }

  /** Removes all, or those that were added before the owner was confirmed. @returns whether there were any */
  async removeAll(
    { id: accountId }: Pick<Account, 'id'>,
    which: { onlyUnconfirmed: boolean },
  ): Promise<boolean> {
    const { affected } = await this.passkeys.delete({
      accountId,
      ...(which.onlyUnconfirmed && { addedUnconfirmed: true }),
    });
    return affected !== 0;
  }
}

const pathOf = ({ id }: Passkey): string => `/auth/passkeys/${id}`;

const wrongResponse = (cause?: unknown): AppError => new AppError('INVALID_CODE', WRONG_RESPONSE, { cause });
