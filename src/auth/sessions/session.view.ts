import { ApiProperty, ApiSchema } from '@nestjs/swagger';
import { AccountView } from '../accounts/index.js';

/** A session as its owner sees it. The credential is in the cookie alone. */
@ApiSchema({ name: 'Session' })
export class SessionView {
  @ApiProperty({ type: AccountView })
  readonly account!: AccountView;

  /** What unsafe calls send as `X-CSRF-Token`; the same for as long as the session lasts. */
  @ApiProperty({ description: 'Send it as `X-CSRF-Token` with unsafe requests.' })
  readonly csrf_token!: string;
}
