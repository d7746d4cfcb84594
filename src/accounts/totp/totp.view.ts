import { ApiProperty, ApiSchema } from '@nestjs/swagger';

/** The second factors of an account. */
@ApiSchema({ name: 'Factors' })
export class FactorsView {
  @ApiProperty({ description: 'Whether logins need a code of an authenticator app.' })
  readonly totp!: boolean;

  @ApiProperty({ type: 'integer', example: 10 })
  readonly recovery_codes_left!: number;

  @ApiProperty({ type: 'integer', example: 1 })
  readonly passkeys!: number;
}

@ApiSchema({ name: 'TotpSetup' })
export class TotpSetupView {
  @ApiProperty({ description: 'In Base32 (RFC 4648).', example: 'JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP' })
  readonly secret!: string;

  @ApiProperty({
    description: 'For authenticator apps, usually as a QR code.',
    example: 'otpauth://totp/Posts%20API:ada%40example.com?issuer=Posts%20API&secret=JBSWY3DPEHPK3PXP',
  })
  readonly uri!: string;
}

@ApiSchema({ name: 'RecoveryCodes' })
export class RecoveryCodesView {
  @ApiProperty({
    type: [String],
    description: 'Each replaces one code of the app. They are shown only once.',
    example: ['abcd-efgh-2345-ijkl-mnop-6722'],
  })
  readonly recovery_codes!: readonly string[];
}
