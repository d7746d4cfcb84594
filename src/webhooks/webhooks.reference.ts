import { EVENT_TYPE } from '../events/event.view.js';
import { eventSchema, nameOf, refTo } from '../events/events.reference.js';
import type { EventTypes } from '../platform/changes/index.js';
import { TEST_TYPE, WEBHOOK_EVENT_TYPE, WebhookView } from './webhook.view.js';

type Json = Record<string, any>;

const header = (name: string, description: string, example: string): Json => ({
  name,
  in: 'header',
  required: true,
  description,
  schema: { type: 'string', examples: [example] },
});

/** The headers of each attempt (Standard Webhooks 1.0). */
const HEADERS = [
  header('webhook-id', 'The id of the event, the same in every attempt.', '5f1d7c8e9a0b-42'),
  header('webhook-timestamp', 'The time of the attempt, in seconds since 1970.', '1763712000'),
  header(
    'webhook-signature',
    'Signatures of `{webhook-id}.{webhook-timestamp}.{body}`, separated by blanks: `v1,` and the HMAC-SHA-256 in base64, with each valid secret.',
    'v1,K5oZfzN95Z9UVu1EsfQmfVNQhnkZ2pj9o9NDN/H/pI4=',
  ),
];

const RESPONSES = {
  '2XX': { description: 'The event was received. Any other status is retried, for about two days.' },
  410: { description: 'Deactivates the webhook.' },
};

/** Adds what receivers of webhooks get, as the `webhooks` of OpenAPI 3.1. */
export function describeWebhooks(document: Json, types: EventTypes): void {
  const { schemas } = document['components'];
  schemas[WEBHOOK_EVENT_TYPE] = { type: 'string', enum: [...types.all, '*'] };
  schemas[EVENT_TYPE].enum.push(TEST_TYPE);
  schemas[nameOf(TEST_TYPE)] = eventSchema(TEST_TYPE, WebhookView);
  document['webhooks'] = Object.fromEntries(
    [...types.all, TEST_TYPE].map((type) => {
      const content = { 'application/json': { schema: { $ref: refTo(type) } } };
      const post = {
        operationId: `Webhook_${type.replaceAll(/\W/g, '_')}`,
        summary: `Delivers \`${type}\``,
        tags: ['Webhooks'],
        security: [],
        parameters: HEADERS,
        requestBody: { required: true, content },
        responses: RESPONSES,
      };
      return [type, { post }];
    }),
  );
}
