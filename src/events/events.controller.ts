import { Controller, Get, Header, Headers, Query, Req, Res, type StreamableFile } from '@nestjs/common';
import { ApiHeader, ApiOperation, ApiTags } from '@nestjs/swagger';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { CredentialWatch, CurrentAccount, OptionalAccess } from '../platform/access/index.js';
import type { Account } from '../accounts/account.entity.js';

import { CarriesJsonText } from '../platform/http/json-text.js';
import { KeepsOpen, NoStore } from '../platform/http/route-config.js';
import { ReturnsCursorPage, ReturnsStream, Throws } from '../platform/http/openapi/returns.js';
import { paged, type Paged } from '../platform/http/responses/paged.js';
import { EventFeed } from './event-feed.js';
import { EventQuery, ListEventsQuery, StreamEventsQuery } from './event-query.js';
import { EventStreams } from './event-streams.js';
import { EventView } from './event.view.js';
import { streamResponse } from './event-stream.js';

const ID = '5f1d7c8e9a0b-42';

const STREAM = `Server-sent events. The stream begins with \`retry: 2000\`, the milliseconds after which a client
reconnects. Each event has \`id\`, \`event\` (its type) and \`data\` (a \`CloudEvent\`). A comment (\`:\`) every 10 seconds
shows that the connection is alive.

\`\`\`text
retry: 2000

id: ${ID}
event: post.deleted
data: {"specversion":"1.0","id":"${ID}","source":"https://api.example.com","type":"post.deleted", …}

:
\`\`\``;

@ApiTags('Events')
@Controller({ path: 'events', version: '1' })
@OptionalAccess()
export class EventsController {
  constructor(
    private readonly events: EventQuery,
    private readonly feed: EventFeed,
    private readonly streams: EventStreams,
    private readonly credentials: CredentialWatch,
  ) {}

  @Get()
  @ApiOperation({ summary: 'Lists events, the oldest first' })
  @ReturnsCursorPage(EventView, 'Present whenever there is data, so that a client can poll from the end.')
  @Throws('INVALID_CURSOR', 'EVENTS_EXPIRED')
  @CarriesJsonText()
  async list(
    @Query() query: ListEventsQuery,
    @CurrentAccount() account: Account | null,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<Paged<EventView>> {
    return paged(reply, await this.feed.read(this.events.page(query, account)));
  }

  @Get('stream')
  @ApiOperation({ summary: 'Sends events as they happen' })
  @ApiHeader({
    name: 'Last-Event-ID',
    required: false,
    description: 'The event to continue after; without it, the stream starts with the next event.',
    schema: { type: 'string' },
  })
  @ReturnsStream(EventView, 'text/event-stream', STREAM)
  @Throws('INVALID_CURSOR', 'EVENTS_EXPIRED')
  @KeepsOpen()
  @NoStore()
  // Proxies that buffer responses would delay events.
  @Header('x-accel-buffering', 'no')
  async stream(
    @Query() query: StreamEventsQuery,
    @Headers('last-event-id') lastEventId: string | undefined,
    @CurrentAccount() account: Account | null,
    @Req() request: FastifyRequest,
  ): Promise<StreamableFile> {
    const wanted = this.events.stream(query, lastEventId, account);
    const stream = await this.streams.open(wanted, request.context.client.address);
    return streamResponse(request, stream, this.credentials);
  }
}
