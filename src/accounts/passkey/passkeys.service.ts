import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import type { PublicKeyCredentialCreationOptionsJSON } from '@simplewebauthn/server';
import { Repository } from 'typeorm';
import {
  AccountData,
  OwnedByAccount,
  type OwnedData,
  type Principal,
  type RecentInput,
  RecentLogins,
} from '../../platform/access/index.js';
import { isDuplicate } from '../../platform/database/failures.js';
import type { ClientInfo } from '../../platform/http/request-context.js';
import { AppError } from '../../platform/http/errors/errors.js';
import { Clock } from '../../platform/jobs/clock.js';
import { AccountChanges } from '../account-changes.js';
import type { Account } from '../account.entity.js';
import { MAX_CREDENTIALS, WaysToLogIn } from '../credentials.js';
import { Passkey } from './passkey.entity.js';
import type { RegisterPasskeyInput } from './passkey.input.js';
import { toPasskeyView } from './passkey.view.js';
import { WebAuthn } from './webauthn.js';

export const TOO_MANY_PASSKEYS = `An account has at most ${MAX_CREDENTIALS} passkeys; delete one first`;
export const NO_SUCH_PASSKEY = 'Your account has no passkey with this id';
export const WRONG_RESPONSE =
  'The response is invalid, or its challenge was used or has expired; start again';

/** The passkeys of accounts. */
@Injectable()
@OwnedByAccount()
export class PasskeysService extends WaysToLogIn<Passkey> {
  readonly counts: OwnedData['counts'] = { passkeys: (account) => this.count(account) };

  constructor(
    @InjectRepository(Passkey) passkeys: Repository<Passkey>,
    changes: AccountChanges,
    data: AccountData,
    private readonly recent: RecentLogins,
    private readonly webauthn: WebAuthn,
    private readonly clock: Clock,
  ) {
    super(
      passkeys,
      changes,
      {
        path: '/auth/passkeys',
        exported: 'passkeys',
        toView: toPasskeyView,
        added: { notice: 'passkey-added', security: ['passkey_changed', 'added'] },
        removed: { notice: 'passkey-removed', security: ['passkey_changed', 'removed'] },
        tooMany: TOO_MANY_PASSKEYS,
        noSuch: NO_SUCH_PASSKEY,
      },
      data,
    );
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
    const passkey = this.rows.create({
      ...credential,
      accountId,
      name: name ?? 'Passkey',
      createdAt: this.clock.now(),
      lastUsedAt: null,
    });
    try {
      return await this.add(caller, async () => {
        await this.rows.insert(passkey);
        return passkey;
      });
    } catch (error) {
      if (!isDuplicate(error)) throw error;
      throw wrongResponse(error);
    }
  }

  onDevicesLost(account: Account): Promise<void> {
    return this.removeAll(account);
  }
}

const wrongResponse = (cause?: unknown): AppError => new AppError('INVALID_CODE', WRONG_RESPONSE, { cause });
