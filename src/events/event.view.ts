import { ApiProperty, ApiSchema } from '@nestjs/swagger';
import { JsonText } from '../platform/http/json-text.js';
import { TimestampProperty } from '../platform/http/openapi/properties.js';
import type { ListedEvent } from '../platform/changes/event-store.js';
import { eventId } from '../platform/changes/stored-event.js';

/** The name of the schema with the types of events, which `describeEvents` fills. */
export const EVENT_TYPE = 'EventType';

/** An event for clients (CloudEvents 1.0, JSON format). */
@ApiSchema({ name: 'CloudEvent' })
export class EventView {
  @ApiProperty({ type: 'string', enum: ['1.0'] })
  readonly specversion!: '1.0';

  @ApiProperty({ description: 'Unique; consumers continue after it.', example: '5f1d7c8e9a0b-42' })
  readonly id!: string;

  @ApiProperty({ description: 'The address of this service.', example: 'https://api.example.com' })
  readonly source!: string;

  @ApiProperty({ enum: [], enumName: EVENT_TYPE })
  readonly type!: string;

  @ApiProperty({ description: 'The path of the resource.', example: '/v1/posts/7' })
  readonly subject!: string;

  @TimestampProperty()
  readonly time!: string;

  @ApiProperty({ type: 'string', enum: ['application/json'] })
  readonly datacontenttype!: 'application/json';

  @ApiProperty({
    type: 'object',
    additionalProperties: true,
    description: 'The resource after the change, as REST returns it; for a deleted resource, its id.',
    example: { id: 7 },
  })
  readonly data!: JsonText;
}

export const toEventView = (event: ListedEvent, source: string): EventView => ({
  specversion: '1.0',
  id: eventId(event),
  source,
  type: event.type,
  subject: event.subject,
  time: event.time,
  datacontenttype: 'application/json',
  data: new JsonText(event.data ?? '{}'),
});
