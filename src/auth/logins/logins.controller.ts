import { Controller, Delete, Get, HttpCode, HttpStatus, Param, VERSION_NEUTRAL } from '@nestjs/common';
import { ApiOperation, ApiTags } from '@nestjs/swagger';
import { SmallBodies } from '../../platform/http/json-body.js';
import { NoStore } from '../../platform/http/route-config.js';
import { ReturnsList, Throws } from '../../platform/http/openapi/returns.js';
import { CurrentAccount, CurrentPrincipal, type Principal } from '../../platform/access/index.js';
import type { Account } from '../accounts/index.js';
import { LoginView } from './login.view.js';
import { LoginsService } from './logins.service.js';

/** The caller's logins, by cookie and by token. */
@ApiTags('Accounts')
@Controller({ path: 'auth/sessions', version: VERSION_NEUTRAL })
@SmallBodies()
@NoStore()
export class LoginsController {
  constructor(private readonly logins: LoginsService) {}

  @Get()
  @ApiOperation({ summary: 'Lists the logins of the calling account' })
  @ReturnsList(LoginView)
  async list(@CurrentPrincipal() caller: Principal): Promise<{ data: LoginView[] }> {
    return { data: await this.logins.list(caller) };
  }

  @Delete()
  @ApiOperation({ summary: 'Ends all other logins of the calling account' })
  @HttpCode(HttpStatus.NO_CONTENT)
  endOthers(@CurrentPrincipal() caller: Principal): Promise<void> {
    return this.logins.endOthers(caller);
  }

  @Delete(':id')
  @ApiOperation({ summary: 'Ends a login' })
  @Throws({ NOT_FOUND: 'Login not found' })
  @HttpCode(HttpStatus.NO_CONTENT)
  end(@CurrentAccount() account: Account, @Param('id') id: string): Promise<void> {
    return this.logins.end(account, id);
  }
}
