import type { Type } from '@nestjs/common';
import { getSchemaPath } from '@nestjs/swagger';
import type { EventTypes } from '../changes/index.js';

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

/** What all events have in common. */
const ENVELOPE = 'CloudEventEnvelope';

/**
 * What receivers of webhooks get, as the `webhooks` of OpenAPI 3.1. Adds the schemas of the events, of which each event
 * of the feed and of the stream has one.
 *
 * @param schemas the named schemas of the document
 */
export function describeWebhooks(types: EventTypes, schemas: Json): Json {
  schemas[ENVELOPE] = schemas['CloudEvent'];
  const mapping = Object.fromEntries(types.all.map((type) => [type, refTo(type)]));
  schemas['CloudEvent'] = {
    oneOf: Object.values(mapping).map(($ref) => ({ $ref })),
    discriminator: { propertyName: 'type', mapping },
  };
  return Object.fromEntries(
    [...types.all, ...types.ofWebhooks.keys()].map((type) => {
      schemas[nameOf(type)] = eventSchema(type, types.viewOf(type));
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

const eventSchema = (type: string, view: Type | undefined): Json => ({
  allOf: [
    { $ref: `#/components/schemas/${ENVELOPE}` },
    {
      type: 'object',
      properties: {
        type: { type: 'string', const: type },
        data: view
          ? { $ref: getSchemaPath(view) }
          : { type: 'object', properties: { id: {} }, required: ['id'] },
      },
    },
  ],
});

/** `post.created` as `PostCreatedEvent`. */
const nameOf = (type: string): string =>
  `${type.replaceAll(/(?:^|\W)(\w)/g, (_, letter: string) => letter.toUpperCase())}Event`;

const refTo = (type: string): string => `#/components/schemas/${nameOf(type)}`;
