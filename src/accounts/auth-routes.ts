import { applyDecorators } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import { WithoutApiKeys } from '../platform/access/index.js';
import { SmallBodies } from '../platform/http/json-body.js';
import { NoStore } from '../platform/http/route-config.js';

/**
 * What all controllers below `/auth/` have: a limit for bodies, responses that no cache stores (RFC 6749, section
 * 5.1), and no access for API keys. Their paths answer with and without the slash at the end; the documented form has it.
 */
export const AuthRoutes = (): ClassDecorator =>
  applyDecorators(ApiTags('Accounts'), SmallBodies(), NoStore(), WithoutApiKeys());
