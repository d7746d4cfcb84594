import { Controller, Get, Header, VERSION_NEUTRAL } from '@nestjs/common';
import { ApiOperation, ApiTags } from '@nestjs/swagger';
import { ReturnsSchema } from '../../platform/http/openapi/returns.js';
import { Public } from '../../platform/access/index.js';
import { type PublicJwk, SigningKeys } from './signing-keys.js';

const TEXT = { type: 'string' };

const JWKS = {
  type: 'object',
  properties: {
    keys: {
      type: 'array',
      items: {
        type: 'object',
        properties: { kty: TEXT, crv: TEXT, x: TEXT, y: TEXT, kid: TEXT, alg: TEXT, use: TEXT },
        required: ['kty', 'crv', 'x', 'y', 'kid', 'alg', 'use'],
        additionalProperties: false,
      },
    },
  },
  required: ['keys'],
  additionalProperties: false,
};

/** The public keys with which other services verify access tokens (RFC 7517). */
@ApiTags('Accounts')
@Controller({ path: '.well-known', version: VERSION_NEUTRAL })
@Public()
export class JwksController {
  constructor(private readonly keys: SigningKeys) {}

  @Get('jwks.json')
  // A new key is published, as the previous one, before it signs.
  @Header('cache-control', 'public, max-age=300')
  @ApiOperation({
    summary: 'Lists the public keys of tokens',
    description: 'Empty unless `JWT_PRIVATE_KEY` is set.',
  })
  @ReturnsSchema('JsonWebKeySet', JWKS)
  list(): { keys: PublicJwk[] } {
    return { keys: this.keys.published };
  }
}
