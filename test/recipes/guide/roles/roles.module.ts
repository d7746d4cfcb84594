import { Controller, Delete, HttpCode, HttpStatus, Module, Param, ParseEnumPipe, Put } from '@nestjs/common';
import { APP_GUARD } from '@nestjs/core';
import { ApiOperation, ApiParam, ApiTags } from '@nestjs/swagger';
import { InjectRepository, TypeOrmModule } from '@nestjs/typeorm';
import type { Repository } from 'typeorm';
import { AccountData, StaffOnly } from '../../../../src/platform/access/index.js';
import { Changes } from '../../../../src/platform/changes/index.js';
import { isForeignKeyViolation } from '../../../../src/platform/database/failures.js';
import { Transactions } from '../../../../src/platform/database/transactions.js';
import { AppError } from '../../../../src/platform/http/errors/errors.js';
import { Throws } from '../../../../src/platform/http/openapi/returns.js';
import { Id } from '../../../../src/platform/http/validation/id.js';
import { AccountRole, type Role, ROLES } from './account-role.entity.js';
import { RolesGuard } from './roles.guard.js';

const RoleParam = () =>
  Param('role', new ParseEnumPipe(Object.fromEntries(ROLES.map((role) => [role, role]))));

/** Staff gives roles to accounts, and takes them away. */
@ApiTags('Roles')
@Controller({ path: 'accounts/:id/roles/:role', version: '1' })
@StaffOnly()
class RolesController {
  constructor(
    @InjectRepository(AccountRole) private readonly roles: Repository<AccountRole>,
    private readonly transactions: Transactions,
    private readonly changes: Changes,
  ) {}

  @Put()
  @HttpCode(HttpStatus.NO_CONTENT)
  @ApiOperation({ summary: 'Gives a role to an account' })
  @ApiParam({ name: 'role', enum: ROLES })
  @Throws({ NOT_FOUND: 'Account not found' })
  give(@Id() accountId: number, @RoleParam() role: Role): Promise<void> {
    return this.transactions
      .run(async () => {
        await this.roles.upsert({ accountId, role }, ['accountId', 'role']);
        await this.changes.record();
      })
      .catch((cause: unknown) => {
        if (!isForeignKeyViolation(cause)) throw cause;
        throw new AppError('NOT_FOUND', 'Account not found', { cause });
      });
  }

  @Delete()
  @HttpCode(HttpStatus.NO_CONTENT)
  @ApiOperation({ summary: 'Takes a role from an account' })
  @ApiParam({ name: 'role', enum: ROLES })
  take(@Id() accountId: number, @RoleParam() role: Role): Promise<void> {
    return this.transactions.run(async () => {
      await this.roles.delete({ accountId, role });
      await this.changes.record();
    });
  }
}

@Module({
  imports: [TypeOrmModule.forFeature([AccountRole])],
  controllers: [RolesController],
  providers: [{ provide: APP_GUARD, useClass: RolesGuard }],
})
export class RolesModule {
  constructor(data: AccountData) {
    data.register({ tables: ['account_roles'] });
  }
}
