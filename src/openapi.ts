import { DocumentBuilder } from '@nestjs/swagger';
import { describeEvents } from './events/events.reference.js';
import { SERVICE } from './platform/config/package.js';
import type { ReferencePart } from './platform/reference/build-document.js';
import { describeWebhooks } from './webhooks/webhooks.reference.js';

/**
 * What the reference says about the whole API. Security schemes that `@ApiSecurity()` names belong here, too; those of
 * tokens, sessions and the CSRF token are added.
 */
export const describeApi = (): DocumentBuilder =>
  new DocumentBuilder()
    .setTitle(SERVICE.title)
    .setDescription(
      'Posts, users, orders, events, webhooks and accounts over REST. GraphQL is at `/graphql`.',
    )
    .setVersion('1')
    .setLicense('MIT', 'https://opensource.org/license/mit')
    .addTag('Posts', 'Posts, with lists by page and by cursor, and a search')
    .addTag('Users', 'Public profiles, in two versions')
    .addTag('Orders', 'Orders, created once for each idempotency key')
    .addTag('Events', 'Changes, as a feed or as a stream')
    .addTag('Webhooks', 'Endpoints that receive events')
    .addTag('Audit', 'Who changed what')
    .addTag('Accounts', 'Accounts, tokens, sessions, social login and recovery')
    .addTag('Health', 'For load balancers and orchestrators');

/** What modules add to the reference besides their handlers, in this order. */
export const REFERENCE_PARTS: readonly ReferencePart[] = [describeEvents, describeWebhooks];
