import type { FindOptionsOrder, FindOptionsWhere, ObjectLiteral, Repository } from 'typeorm';
import { type AccountData, exportOf, type OwnedData, type Principal } from '../platform/access/index.js';
import { AppError } from '../platform/http/errors/errors.js';
import { idOrUnknown } from '../platform/http/validation/id.js';
import type { AccountChanges, Traces } from './account-changes.js';
import type { Account } from './account.entity.js';

/** The maximum number of credentials of a kind that an account has. */
export const MAX_CREDENTIALS = 50;

interface CredentialRow extends ObjectLiteral {
  readonly id: number;
  readonly accountId: number;
}

/** How one kind of credential differs from the others. */
interface CredentialKind<Row> {
  /** Of its resources, such as `/auth/passkeys`. */
  readonly path: string;
  /** Its member in the export of an account. */
  readonly exported: string;
  readonly toView: (row: Row) => object;
  readonly added: Traces<Row>;
  readonly removed: Traces<void>;
  /** When several are removed at once, because of something else. */
  readonly removedAll?: Traces<void>;
  readonly tooMany: string;
  readonly noSuch: string;
}

/** Credentials of one kind that an account owns beside its password, and that its owner adds, lists and removes. */
export abstract class Credentials<Row extends CredentialRow> implements OwnedData {
  protected constructor(
    protected readonly rows: Repository<Row>,
    protected readonly changes: AccountChanges,
    private readonly kind: CredentialKind<Row>,
  ) {}

  get tables(): readonly string[] {
    return [this.rows.metadata.tableName];
  }

  get exports(): NonNullable<OwnedData['exports']> {
    return { [this.kind.exported]: exportOf((id) => this.list(id), this.kind.toView) };
  }

  otherAccess(account: Account): Promise<number> {
    return this.count(account);
  }

  list(accountId: number): Promise<Row[]> {
    return this.rows.find({
      where: ofAccount<Row>(accountId),
      order: { id: 'ASC' } as FindOptionsOrder<Row>,
    });
  }

  count({ id }: Pick<Account, 'id'>): Promise<number> {
    return this.rows.countBy(ofAccount<Row>(id));
  }

  /** @param id as in the path @throws AppError `NOT_FOUND`, `CONFLICT` for the last way to log in */
  async remove({ id: accountId }: Pick<Account, 'id'>, id: string): Promise<void> {
    const row = ofAccount<Row>(accountId, { id: idOrUnknown(id) });
    const traces = { ...this.kind.removed, subject: `${this.kind.path}/${idOrUnknown(id)}` };
    await this.changes.run(accountId, traces, async (account) => {
      if (!(await this.rows.existsBy(row))) throw new AppError('NOT_FOUND', this.kind.noSuch);
      await this.beforeRemoval(account);
      await this.rows.delete(row);
    });
  }

  /**
   * Adds a credential to the account of the caller, whose login must still be valid.
   *
   * @param insert runs with the account locked
   * @throws AppError `CONFLICT` if the account has too many
   */
  protected add(caller: Principal, insert: (account: Account) => Promise<Row>): Promise<Row> {
    const traces = { ...this.kind.added, subject: ({ id }: Row) => `${this.kind.path}/${id}` };
    return this.changes.addAccess(caller, traces, async (account) => {
      await this.requireRoom(account);
      return insert(account);
    });
  }

  /** @param account locked @throws AppError `CONFLICT` */
  protected async requireRoom(account: Pick<Account, 'id'>): Promise<void> {
    if ((await this.count(account)) >= MAX_CREDENTIALS) throw new AppError('CONFLICT', this.kind.tooMany);
  }

  /** Removes all that match, and reports it if there are any. */
  protected async removeAll(account: Account, which: object = {}): Promise<void> {
    const { affected } = await this.rows.delete(ofAccount<Row>(account.id, which));
    if (affected !== 0) await this.changes.report(account, this.kind.removedAll ?? this.kind.removed);
  }

  /** Runs with the account locked. */
  protected async beforeRemoval(_account: Account): Promise<void> {}
}

/** Credentials that log in by themselves. Their rows say whether they were added before the owner was confirmed. */
export abstract class WaysToLogIn<Row extends CredentialRow> extends Credentials<Row> {
  protected constructor(
    rows: Repository<Row>,
    changes: AccountChanges,
    kind: CredentialKind<Row>,
    private readonly data: AccountData,
  ) {
    super(rows, changes, kind);
  }

  waysToLogIn(account: Account): Promise<number> {
    return this.count(account);
  }

  async onOwnerConfirmed({ id }: Account): Promise<void> {
    await this.rows
      .createQueryBuilder()
      .update()
      .set({ addedUnconfirmed: true } as object)
      .where('accountId = :id', { id })
      .execute();
  }

  onReset(account: Account): Promise<void> {
    return this.removeAll(account, account.isOwnerConfirmed ? { addedUnconfirmed: true } : {});
  }

  protected override beforeRemoval(account: Account): Promise<void> {
    return this.data.requireAnotherWay(account);
  }
}

const ofAccount = <Row extends CredentialRow>(accountId: number, further: object = {}) =>
  ({ accountId, ...further }) as unknown as FindOptionsWhere<Row>;
