import { Entity, JoinColumn, ManyToOne } from 'typeorm';
import { Account } from '../../../../src/accounts/account.entity.js';
import { IntegerColumn, TextColumn } from '../../../../src/platform/database/columns.js';

export const ROLES = ['editor', 'reviewer'] as const;
export type Role = (typeof ROLES)[number];

/** A role that an account has. */
@Entity('account_roles')
export class AccountRole {
  @IntegerColumn('account_id', { primary: true })
  accountId!: number;

  @ManyToOne(() => Account, { nullable: false })
  @JoinColumn({ name: 'account_id', foreignKeyConstraintName: 'account_roles_account_id_fkey' })
  account?: Account;

  @TextColumn('role', { primary: true })
  role!: Role;
}
