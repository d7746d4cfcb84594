import { applyDecorators } from '@nestjs/common';
import { ApiProperty } from '@nestjs/swagger';
import type { AuthenticationResponseJSON, RegistrationResponseJSON } from '@simplewebauthn/server';
import { ValidateBy } from 'class-validator';
import { OptionalField } from '../../platform/http/validation/fields.js';
import { Text } from '../../platform/http/validation/text.js';

/** The field must have the form of a response of WebAuthn; the cryptography is checked later. */
const CredentialResponse = (): PropertyDecorator =>
  applyDecorators(
    ApiProperty({
      type: 'object',
      additionalProperties: true,
      description: 'The result of `navigator.credentials`, by its method `toJSON()`.',
    }),
    ValidateBy({
      name: 'credentialResponse',
      validator: {
        validate: isCredential,
        defaultMessage: () => '$property must be the JSON of a credential of WebAuthn',
      },
    }),
  );

function isCredential(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false;
  const { id, rawId, type, response } = value as Record<string, unknown>;
  if (typeof id !== 'string' || typeof rawId !== 'string' || typeof type !== 'string') return false;
  if (typeof response !== 'object' || response === null) return false;
  return typeof (response as Record<string, unknown>)['clientDataJSON'] === 'string';
}

export class RegisterPasskeyInput {
  @CredentialResponse()
  response!: RegistrationResponseJSON;

  /** How its owner recognizes it; absent or null: Passkey. */
  @OptionalField()
  @Text({ min: 1, max: 150 })
  name?: string | null;
}

export class PasskeyLoginInput {
  @CredentialResponse()
  response!: AuthenticationResponseJSON;
}

/** A login of a session by passkey. */
export class PasskeySessionInput {
  @CredentialResponse()
  passkey!: AuthenticationResponseJSON;
}
