import { Injectable } from '@nestjs/common';
import { Config } from '../../platform/config/config.js';
import type { TokenPurpose } from './account-token.entity.js';

/** The targets of links in mails. */
@Injectable()
export class AccountLinks {
  private readonly page: string;

  constructor({ accountLinksUrl, publicUrl }: Config) {
    this.page = accountLinksUrl ?? `${publicUrl}/account/`;
  }

  /** The token is in the fragment, which browsers send neither to a server nor in `Referer`. */
  to(purpose: TokenPurpose, token: string): string {
    return `${this.page}#action=${purpose}&token=${token}`;
  }
}
