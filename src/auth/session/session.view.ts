import { ApiProperty, ApiSchema } from '@nestjs/swagger';
import { AccountView } from '../../accounts/account.view.js';

/** A session as its owner sees it. The credential is in the cookie only. */
@ApiSchema({ name: 'Session' })
export class SessionView {
  @ApiProperty({ type: AccountView })
  readonly account!: AccountView;

  /** The value for `X-CSRF-Token` in unsafe calls; it is the same for the whole session. */
  @ApiProperty({ description: 'Send it as `X-CSRF-Token` with unsafe requests.' })
  readonly csrf_token!: string;
}
