import { Injectable, type OnApplicationBootstrap } from '@nestjs/common';
import { DiscoveryService } from '@nestjs/core';
import type { EntityManager } from 'typeorm';
import { AppError } from '../http/errors/errors.js';
import { stringify } from '../http/json-text.js';
import type { CallingAccount } from '../http/principal.js';

/** Reads what a module stores about an account, for its owner and without secrets, in batches of views. */
export type Export = (account: CallingAccount) => AsyncIterable<readonly object[]>;

/**
 * What a provider with {@link OwnedByAccount} stores about accounts, and what happens to it. Each function but that of
 * the export runs in the transaction of its cause, with the account locked, and gets the account as it was before.
 * Functions that remove something send its notice.
 */
export interface OwnedData {
  /** Tables whose rows are deleted with the account, by their column `account_id`: never text from outside. */
  readonly tables?: readonly string[];
  /** The account is deleted: what more is removed than the rows of `tables`. */
  readonly onDeletion?: (
    account: Pick<CallingAccount, 'id' | 'email'>,
    manager: EntityManager,
  ) => Promise<unknown>;
  /** Its lists in the export of the account, by the names of their members. */
  readonly exports?: Readonly<Record<string, Export>>;
  /** What other modules may show the number of, by name. */
  readonly counts?: Readonly<Record<string, (account: CallingAccount) => Promise<number>>>;
  /** How many ways to log in the account has; the last one of an account cannot be removed. */
  readonly waysToLogIn?: (account: CallingAccount) => Promise<number>;
  /** How much gives access to the account besides its password. */
  readonly otherAccess?: (account: CallingAccount) => Promise<number>;
  /** The logins of the account end, with what can become one without another check. @param except the id of a login that stays */
  readonly onSessionsEnd?: (account: CallingAccount, except?: string) => Promise<void>;
  /** The password or the e-mail changes. */
  readonly onCredentialsChange?: (account: CallingAccount) => Promise<void>;
  /** The password is reset, or the account deactivated: programs lose their access, too. */
  readonly onRevocation?: (account: CallingAccount) => Promise<void>;
  /** The owner of the address is confirmed: what was added until then may be of somebody else. */
  readonly onOwnerConfirmed?: (account: CallingAccount) => Promise<void>;
  /** The owner of the address resets the password: what was added before the owner was confirmed is removed. */
  readonly onReset?: (account: CallingAccount) => Promise<void>;
  /** The owner has lost the devices that second factors and passkeys are on. */
  readonly onDevicesLost?: (account: CallingAccount) => Promise<void>;
}

/** Marks a provider that implements {@link OwnedData}, so that no module uses the tables of another one. */
export const OwnedByAccount = DiscoveryService.createDecorator();

/** What accounts own, of all modules. Functions run in the order of the modules; none depends on another one. */
@Injectable()
export class AccountData implements OnApplicationBootstrap {
  private owned: readonly OwnedData[] = [];

  constructor(private readonly discovery: DiscoveryService) {}

  /**
   * Finds the owners, in the order of their modules.
   *
   * @throws Error for one that is made for each request, or that two modules provide: what it owns would count twice
   */
  onApplicationBootstrap(): void {
    const marked = new Set(this.discovery.getProviders({ metadataKey: OwnedByAccount.KEY }));
    const providers = this.discovery.getProviders().filter((provider) => marked.has(provider));
    const classes = new Set<unknown>();
    for (const provider of providers) {
      const what = `${String(provider.name)} has @OwnedByAccount()`;
      if (!provider.isDependencyTreeStatic()) throw new Error(`${what}, so it must not depend on a request`);
      if (classes.has(provider.metatype))
        throw new Error(`${what}, so only one module may provide it; import that module`);
      classes.add(provider.metatype);
    }
    this.owned = providers.map(({ instance }) => instance as OwnedData);
  }

  /** Call it in the transaction that deletes the account, before the account itself. */
  async erase(account: CallingAccount, manager: EntityManager): Promise<void> {
    for (const each of this.owned) {
      for (const table of each.tables ?? []) await deleteRows(table, account.id, manager);
      await each.onDeletion?.(account, manager);
    }
  }

  /**
   * Writes everything that is stored about an account, for its owner (GDPR, article 20).
   *
   * @param view of the account itself
   * @returns the parts of a JSON object, read in batches while the client reads them
   */
  async *export(account: CallingAccount, view: object): AsyncGenerator<string> {
    yield `{"account":${JSON.stringify(view)}`;
    for (const [name, read] of this.owned.flatMap(({ exports = {} }) => Object.entries(exports))) {
      let separator = `,${JSON.stringify(name)}:[`;
      for await (const batch of read(account)) {
        for (const item of batch) {
          yield separator + stringify(item);
          separator = ',';
        }
      }
      yield separator === ',' ? ']' : `${separator}]`;
    }
    yield '}';
  }

  /**
   * Call it with the account locked, before one way to log in is removed: of two concurrent removals, the second must see
   * that only one is left.
   *
   * @throws AppError `CONFLICT` when it is the last one
   */
  async requireAnotherWay(account: CallingAccount): Promise<void> {
    let ways = 0;
    for (const each of this.owned) ways += (await each.waysToLogIn?.(account)) ?? 0;
    if (ways <= 1) throw new AppError('CONFLICT', LAST_WAY);
  }

  /** Whether something else than the password gives access to the account. */
  async hasOtherAccess(account: CallingAccount): Promise<boolean> {
    for (const each of this.owned) if (((await each.otherAccess?.(account)) ?? 0) > 0) return true;
    return false;
  }

  /** How many of something the account has, such as passkeys. */
  async count(name: string, account: CallingAccount): Promise<number> {
    let count = 0;
    for (const { counts } of this.owned) count += (await counts?.[name]?.(account)) ?? 0;
    return count;
  }

  /** Ends all logins of an account. @param except id of the login to keep */
  async endSessions(account: CallingAccount, except?: string): Promise<void> {
    for (const each of this.owned) await each.onSessionsEnd?.(account, except);
  }

  /** Reports a change of the password or the e-mail. */
  credentialsChanged(account: CallingAccount): Promise<void> {
    return this.run('onCredentialsChange', account);
  }

  /** Ends all logins, and all access of programs. */
  async revoke(account: CallingAccount): Promise<void> {
    await this.endSessions(account);
    await this.run('onRevocation', account);
  }

  ownerConfirmed(account: CallingAccount): Promise<void> {
    return this.run('onOwnerConfirmed', account);
  }

  /** Removes what was added before the owner was confirmed: whoever added it may not own the address. */
  removeUnconfirmed(account: CallingAccount): Promise<void> {
    return this.run('onReset', account);
  }

  /** Takes second factors and passkeys away. */
  resetFactors(account: CallingAccount): Promise<void> {
    return this.run('onDevicesLost', account);
  }

  private async run(
    event: 'onCredentialsChange' | 'onRevocation' | 'onOwnerConfirmed' | 'onReset' | 'onDevicesLost',
    account: CallingAccount,
  ): Promise<void> {
    for (const each of this.owned) await each[event]?.(account);
  }
}

export const LAST_WAY =
  'This is the only way to log in to your account; set a password first with POST /auth/password/reset/';

/** An export of rows that are few enough to be read at once. */
export const exportOf = <Row>(
  read: (accountId: number) => Promise<readonly Row[]>,
  toView: (row: Row) => object,
): Export =>
  async function* ({ id }) {
    yield (await read(id)).map(toView);
  };

async function deleteRows(table: string, id: number, manager: EntityManager): Promise<void> {
  await manager.createQueryBuilder().delete().from(table).where('account_id = :id', { id }).execute();
}
