import { Controller, Delete, Get, HttpCode, HttpStatus, Param, VERSION_NEUTRAL } from '@nestjs/common';
import { ApiOperation } from '@nestjs/swagger';
import { AuthRoutes } from './auth-routes.js';
import { ReturnsList, Throws } from '../platform/http/openapi/returns.js';
import { AccountData, CurrentAccount, CurrentPrincipal, type Principal } from '../platform/access/index.js';
import { AppError } from '../platform/http/errors/errors.js';
import { isStorable } from '../platform/http/validation/text.js';
import { AccountChanges } from './account-changes.js';
import type { Account } from './account.entity.js';
import { SessionView, toSessionView } from './session.view.js';
import { SessionsService } from './sessions.service.js';

/** The caller's logins, by cookie and by token. */
@Controller({ path: 'auth/sessions', version: VERSION_NEUTRAL })
@AuthRoutes()
export class SessionsController {
  constructor(
    private readonly sessions: SessionsService,
    private readonly changes: AccountChanges,
    private readonly data: AccountData,
  ) {}

  @Get()
  @ApiOperation({ summary: 'Lists the logins of the calling account' })
  @ReturnsList(SessionView)
  async list(@CurrentPrincipal() { account, sid }: Principal): Promise<{ data: SessionView[] }> {
    return { data: (await this.sessions.list(account.id)).map((session) => toSessionView(session, sid)) };
  }

  @Delete()
  @ApiOperation({ summary: 'Ends all other logins of the calling account' })
  @HttpCode(HttpStatus.NO_CONTENT)
  endOthers(@CurrentPrincipal() { account, sid }: Principal): Promise<void> {
    return this.changes.run(account.id, {}, (current) => this.data.endSessions(current, sid));
  }

  @Delete(':id')
  @ApiOperation({ summary: 'Ends a login' })
  @Throws({ NOT_FOUND: 'Login not found' })
  @HttpCode(HttpStatus.NO_CONTENT)
  async end(@CurrentAccount() account: Account, @Param('id') id: string): Promise<void> {
    const ended = isStorable(id) && (await this.sessions.end(account.id, id));
    if (!ended) throw new AppError('NOT_FOUND', 'Login not found');
  }
}
