import type { Type } from '@nestjs/common';
import { getSchemaPath } from '@nestjs/swagger';
import type { EventTypes } from '../platform/changes/index.js';
import { EVENT_TYPE } from './event.view.js';

type Json = Record<string, any>;

/** What all events have in common. */
const ENVELOPE = 'CloudEventEnvelope';

/** Adds the schemas of the events, of which each event of the feed and of the stream has one. */
export function describeEvents({ components: { schemas } }: Json, types: EventTypes): void {
  schemas[EVENT_TYPE] = { type: 'string', enum: [...types.all] };
  schemas[ENVELOPE] = schemas['CloudEvent'];
  const mapping = Object.fromEntries(types.all.map((type) => [type, refTo(type)]));
  schemas['CloudEvent'] = {
    oneOf: Object.values(mapping).map(($ref) => ({ $ref })),
    discriminator: { propertyName: 'type', mapping },
  };
  for (const type of types.all) schemas[nameOf(type)] = eventSchema(type, types.viewOf(type));
}

/** @param view the class of its data; of a deleted resource, only its id is known */
export const eventSchema = (type: string, view: Type | undefined): Json => ({
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
export const nameOf = (type: string): string =>
  `${type.replaceAll(/(?:^|\W)(\w)/g, (_, letter: string) => letter.toUpperCase())}Event`;

export const refTo = (type: string): string => `#/components/schemas/${nameOf(type)}`;
