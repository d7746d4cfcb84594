import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import {
  generateRegistrationOptions,
  type PublicKeyCredentialCreationOptionsJSON,
  type RegistrationResponseJSON,
  verifyRegistrationResponse,
} from '@simplewebauthn/server';
import { Repository } from 'typeorm';
import { Clock } from '../../platform/jobs/clock.js';
import { AppError } from '../../platform/http/errors/errors.js';
import { SecurityEvents } from '../../platform/http/security-events.js';
import type { ClientInfo } from '../../platform/http/client.js';
import { NO_ROW, toId } from '../../platform/http/validation/id.js';
import { isDuplicate } from '../../platform/database/failures.js';
import { Transactions } from '../../platform/database/transactions.js';
import { Changes } from '../../platform/changes/index.js';
import type { Principal } from '../../platform/access/index.js';
import { AccountMails } from '../account-mails/index.js';
import { type Account, accountDeleted, AccountsService, LoginWays } from '../accounts/index.js';
import { Logins, type RecentInput, RecentLogins } from '../logins/index.js';
import { Challenges } from './challenges.js';
import { Passkey } from './passkey.entity.js';
import type { RegisterPasskeyInput } from './passkey.input.js';
import { toUserHandle } from './passkey-logins.js';
import { Passkeys } from './passkeys.js';
import { isPublicKey } from './public-key.js';
import { RelyingParty } from './relying-party.js';

/** The maximum number of passkeys of an account. */
const MAX_PASSKEYS = 50;

/** 1023 bytes in base64url (WebAuthn Level 3, section 4); PostgreSQL cannot index an id of any length. */
const MAX_ID_LENGTH = 1364;

/** WebAuthn Level 3, section 5.8.4 */
const TRANSPORTS = ['ble', 'hybrid', 'internal', 'nfc', 'smart-card', 'usb'];

export const TOO_MANY_PASSKEYS = `An account has at most ${MAX_PASSKEYS} passkeys; delete one first`;
export const NO_SUCH_PASSKEY = 'Your account has no passkey with this id';
export const WRONG_RESPONSE =
  'The response is invalid, or its challenge was used or has expired; start again';

/** What owners of accounts do with their passkeys (WebAuthn Level 3). */
@Injectable()
export class PasskeysService {
  constructor(
    @InjectRepository(Passkey) private readonly repository: Repository<Passkey>,
    private readonly passkeys: Passkeys,
    private readonly challenges: Challenges,
    private readonly party: RelyingParty,
    private readonly accounts: AccountsService,
    private readonly ways: LoginWays,
    private readonly logins: Logins,
    private readonly recent: RecentLogins,
    private readonly mails: AccountMails,
    private readonly security: SecurityEvents,
    private readonly transactions: Transactions,
    private readonly changes: Changes,
    private readonly clock: Clock,
  ) {}

  list({ id }: Account): Promise<Passkey[]> {
    return this.passkeys.list(id);
  }

  /** @throws IncorrectPassword; AppError `FORBIDDEN` without a recent login, `SERVICE_UNAVAILABLE` without a domain */
  async options(
    caller: Principal,
    input: RecentInput,
    client: ClientInfo,
  ): Promise<PublicKeyCredentialCreationOptionsJSON> {
    const rpID = this.party.id;
    await this.recent.require(caller, input, client);
    const { id, email, name } = caller.account;
    await this.transactions.run(() => this.changes.record());
    return generateRegistrationOptions({
      rpName: this.party.name,
      rpID,
      userName: email,
      userDisplayName: name,
      userID: new Uint8Array(Buffer.from(String(id))),
      challenge: this.challenges.issue(registrationOf(id)),
      excludeCredentials: (await this.passkeys.list(id)).map(({ credentialId, transports }) => ({
        id: credentialId,
        transports: JSON.parse(transports) as string[],
      })),
      supportedAlgorithmIDs: this.party.algorithms,
      authenticatorSelection: { residentKey: 'required', userVerification: 'required' },
    });
  }

  /** @throws AppError `INVALID_CODE`, `CONFLICT` if there are too many */
  async register({ account, sid }: Principal, { response, name }: RegisterPasskeyInput): Promise<Passkey> {
    const rpID = this.party.id;
    const challenge = await this.challenges.use(response.response.clientDataJSON, registrationOf(account.id));
    const credential = challenge === undefined ? undefined : await this.verify(response, challenge, rpID);
    if (!credential) throw wrongResponse();
    const passkey = this.repository.create({
      accountId: account.id,
      credentialId: credential.id,
      publicKey: Buffer.from(credential.publicKey).toString('base64url'),
      counter: credential.counter,
      transports: JSON.stringify(transportsOf(credential.transports)),
      name: name ?? 'Passkey',
      createdAt: this.clock.now(),
      lastUsedAt: null,
    });
    try {
      await this.transactions.run(async () => {
        const owner = await this.accounts.lock(account.id);
        if (!owner?.isActive) throw accountDeleted();
        await this.logins.requireOpen(sid);
        if ((await this.passkeys.count(owner.id)) >= MAX_PASSKEYS)
          throw new AppError('CONFLICT', TOO_MANY_PASSKEYS);
        await this.repository.insert(passkey);
        await this.mails.notify(owner, 'passkey-added');
        await this.changes.record({ subject: `/auth/passkeys/${passkey.id}` });
      });
    } catch (error) {
      if (!isDuplicate(error)) throw error;
      throw wrongResponse(error);
    }
    this.security.record('factor_changed', { accountId: account.id, reason: 'passkey added' });
    return passkey;
  }

  /**
   * @param id as in the path
   * @throws IncorrectPassword; AppError `FORBIDDEN` without a recent login, `NOT_FOUND`, `CONFLICT` for the last way
   * to log in
   */
  async remove(caller: Principal, id: string, input: RecentInput, client: ClientInfo): Promise<void> {
    await this.recent.require(caller, input, client);
    await this.transactions.run(async () => {
      const account = await this.accounts.lock(caller.account.id);
      if (!account) throw accountDeleted();
      const passkey = await this.repository.findOneBy({ id: toId(id) ?? NO_ROW, accountId: account.id });
      if (!passkey) throw new AppError('NOT_FOUND', NO_SUCH_PASSKEY);
      await this.ways.requireAnother(account);
      await this.repository.delete({ id: passkey.id });
      await this.mails.notify(account, 'passkey-removed');
      await this.changes.record({ subject: `/auth/passkeys/${passkey.id}` });
    });
    this.security.record('factor_changed', { accountId: caller.account.id, reason: 'passkey removed' });
  }

  private async verify(response: RegistrationResponseJSON, expectedChallenge: string, expectedRPID: string) {
    try {
      const { registrationInfo } = await verifyRegistrationResponse({
        response,
        expectedChallenge,
        expectedOrigin: [...this.party.origins],
        expectedRPID,
        requireUserVerification: true,
        supportedAlgorithmIDs: this.party.algorithms,
      });
      const credential = registrationInfo?.credential;
      if (!credential || credential.id.length > MAX_ID_LENGTH) return undefined;
      return isPublicKey(credential.publicKey) ? credential : undefined;
    } catch {
      // The library throws for every response that is malformed or does not match.
      return undefined;
    }
  }
}

/** A client may send anything, and gets them back in options. */
const transportsOf = (sent: unknown): string[] =>
  TRANSPORTS.filter((transport) => Array.isArray(sent) && sent.includes(transport));

const registrationOf = (accountId: number): string => `registration of ${toUserHandle(accountId)}`;

const wrongResponse = (cause?: unknown): AppError => new AppError('INVALID_CODE', WRONG_RESPONSE, { cause });
