import { Injectable } from '@nestjs/common';
import { PassportStrategy } from '@nestjs/passport';
import type { FastifyRequest } from 'fastify';
import { SecurityEvents } from '../../platform/http/security-events.js';
import {
  type ApiKeyInfo,
  Credential,
  readBearer,
  RequestStrategy,
  tokenNotValid,
} from '../../platform/access/index.js';
import type { Account } from '../account.entity.js';
import { isApiKey } from './api-key-text.js';
import { ApiKeysService } from './api-keys.service.js';

/** `Authorization: Bearer psk_…`. Other bearer tokens are left to the next strategy. */
@Injectable()
@Credential()
export class ApiKeyStrategy extends PassportStrategy(RequestStrategy, 'service-api-key') {
  constructor(
    private readonly keys: ApiKeysService,
    private readonly security: SecurityEvents,
  ) {
    super();
  }

  async validate({ headers }: FastifyRequest): Promise<[Account, ApiKeyInfo] | null> {
    const token = readBearer(headers.authorization);
    if (token === null || !isApiKey(token)) return null;
    const found = await this.keys.find(token);
    if (found) return found;
    this.security.record('api_key_refused', { reason: 'unknown, expired or inactive' });
    throw tokenNotValid();
  }
}
