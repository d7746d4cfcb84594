import { Body, Controller, HttpCode, HttpStatus, Injectable, Module, Put } from '@nestjs/common';
import { APP_GUARD } from '@nestjs/core';
import { ApiOperation, ApiProperty, ApiTags } from '@nestjs/swagger';
import { InjectRepository, TypeOrmModule } from '@nestjs/typeorm';
import { ArrayUnique, IsArray, IsIn } from 'class-validator';
import type { Repository } from 'typeorm';
import { AccountsModule } from '../../../../src/accounts/accounts.module.js';
import { AccountsService } from '../../../../src/accounts/accounts.service.js';
import { OwnedByAccount, type OwnedData, StaffOnly } from '../../../../src/platform/access/index.js';
import { Changes } from '../../../../src/platform/changes/index.js';
import { Transactions } from '../../../../src/platform/database/transactions.js';
import { AppError } from '../../../../src/platform/http/errors/errors.js';
import { Throws } from '../../../../src/platform/http/openapi/returns.js';
import { Id } from '../../../../src/platform/http/validation/id.js';
import { AccountRole, type Role, ROLES } from './account-role.entity.js';
import { RolesGuard } from './roles.guard.js';

class RolesInput {
  @IsArray()
  @ArrayUnique()
  @IsIn(ROLES, { each: true })
  @ApiProperty({ type: 'array', items: { type: 'string', enum: [...ROLES] }, example: ['editor'] })
  roles!: Role[];
}

/** Staff says which roles an account has. */
@ApiTags('Roles')
@Controller({ path: 'accounts/:id/roles', version: '1' })
@StaffOnly()
class RolesController {
  constructor(
    @InjectRepository(AccountRole) private readonly roles: Repository<AccountRole>,
    private readonly accounts: AccountsService,
    private readonly transactions: Transactions,
    private readonly changes: Changes,
  ) {}

  @Put()
  @HttpCode(HttpStatus.NO_CONTENT)
  @ApiOperation({ summary: 'Replaces the roles of an account' })
  @Throws({ NOT_FOUND: 'Account not found' })
  replace(@Id() accountId: number, @Body() { roles }: RolesInput): Promise<void> {
    return this.transactions.run(async () => {
      // The lock keeps the account from being deleted meanwhile.
      if (!(await this.accounts.lock(accountId))) throw new AppError('NOT_FOUND', 'Account not found');
      await this.roles.delete({ accountId });
      await this.roles.insert(roles.map((role) => ({ accountId, role })));
      await this.changes.record();
    });
  }
}

@Injectable()
@OwnedByAccount()
class RolesOfAccounts implements OwnedData {
  readonly tables = ['account_roles'];
}

@Module({
  imports: [TypeOrmModule.forFeature([AccountRole]), AccountsModule],
  controllers: [RolesController],
  providers: [RolesOfAccounts, { provide: APP_GUARD, useClass: RolesGuard }],
})
export class RolesModule {}
