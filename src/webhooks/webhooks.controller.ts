import { Body, Controller, Delete, Get, HttpCode, HttpStatus, Patch, Post, Query, Res } from '@nestjs/common';
import { ApiOperation, ApiTags } from '@nestjs/swagger';
import type { FastifyReply } from 'fastify';
import { StaffOnly } from '../platform/access/index.js';
import { SmallBodies } from '../platform/http/json-body.js';
import { ReturnsCursorPage, ReturnsData, ReturnsPage, Throws } from '../platform/http/openapi/returns.js';
import { paged, type Paged } from '../platform/http/responses/paged.js';
import { PageRequest } from '../platform/http/pages/page-request.js';
import { created } from '../platform/http/responses/created.js';
import { Id } from '../platform/http/validation/id.js';
import { ListDeliveriesQuery } from './deliveries.js';
import { CreateWebhookInput, UpdateWebhookInput } from './webhook.input.js';
import {
  toDeliveryView,
  toWebhookView,
  toWebhookWithSecretView,
  WebhookDeliveryView,
  WebhookView,
  WebhookWithSecretView,
} from './webhook.view.js';
import { TOO_MANY_ROTATIONS } from './webhook-secrets.js';
import { TOO_MANY, WebhooksService } from './webhooks.service.js';

@ApiTags('Webhooks')
@Controller({ path: 'webhooks', version: '1' })
@SmallBodies()
@StaffOnly()
export class WebhooksController {
  constructor(private readonly webhooks: WebhooksService) {}

  @Get()
  @ApiOperation({ summary: 'Lists webhooks' })
  @ReturnsPage(WebhookView)
  async list(
    @Query() page: PageRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<Paged<WebhookView>> {
    return paged(reply, (await this.webhooks.list(page)).map(toWebhookView));
  }

  @Post()
  @ApiOperation({ summary: 'Creates a webhook, and shows its secret' })
  @ReturnsData(WebhookWithSecretView)
  @Throws({ CONFLICT: TOO_MANY })
  async create(
    @Body() input: CreateWebhookInput,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<{ data: WebhookWithSecretView }> {
    return created(reply, '/v1/webhooks', toWebhookWithSecretView(await this.webhooks.create(input)));
  }

  @Get(':id')
  @ApiOperation({ summary: 'Reads a webhook' })
  @ReturnsData(WebhookView)
  @Throws({ NOT_FOUND: 'Webhook not found' })
  async read(@Id() id: number): Promise<{ data: WebhookView }> {
    return { data: toWebhookView(await this.webhooks.get(id)) };
  }

  @Patch(':id')
  @ApiOperation({ summary: 'Updates the given fields of a webhook' })
  @ReturnsData(WebhookView)
  @Throws({ NOT_FOUND: 'Webhook not found' })
  async update(@Id() id: number, @Body() input: UpdateWebhookInput): Promise<{ data: WebhookView }> {
    return { data: toWebhookView(await this.webhooks.update(id, input)) };
  }

  @Delete(':id')
  @ApiOperation({ summary: 'Deletes a webhook, and its deliveries' })
  @Throws({ NOT_FOUND: 'Webhook not found' })
  @HttpCode(HttpStatus.NO_CONTENT)
  delete(@Id() id: number): Promise<void> {
    return this.webhooks.delete(id);
  }

  @Post(':id/rotate-secret')
  @ApiOperation({ summary: 'Replaces the secret; each replaced one still signs for 24 hours' })
  @ReturnsData(WebhookWithSecretView)
  @Throws({ NOT_FOUND: 'Webhook not found', CONFLICT: TOO_MANY_ROTATIONS })
  @HttpCode(HttpStatus.OK)
  async rotateSecret(@Id() id: number): Promise<{ data: WebhookWithSecretView }> {
    return { data: toWebhookWithSecretView(await this.webhooks.rotateSecret(id)) };
  }

  @Post(':id/test')
  @ApiOperation({ summary: 'Delivers an event of the type webhook.test' })
  @ReturnsData(WebhookDeliveryView)
  @Throws({ NOT_FOUND: 'Webhook not found', CONFLICT: 'The webhook is inactive; activate it first' })
  @HttpCode(HttpStatus.ACCEPTED)
  async test(@Id() id: number): Promise<{ data: WebhookDeliveryView }> {
    return { data: toDeliveryView(await this.webhooks.test(id)) };
  }

  @Get(':id/deliveries')
  @ApiOperation({ summary: 'Lists the deliveries of a webhook, the newest first' })
  @ReturnsCursorPage(WebhookDeliveryView)
  @Throws('INVALID_CURSOR', { NOT_FOUND: 'Webhook not found' })
  async listDeliveries(
    @Id() id: number,
    @Query() query: ListDeliveriesQuery,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<Paged<WebhookDeliveryView>> {
    return paged(reply, (await this.webhooks.listDeliveries(id, query)).map(toDeliveryView));
  }

  @Post(':id/deliveries/:delivery/redeliver')
  @ApiOperation({ summary: 'Delivers an event again' })
  @ReturnsData(WebhookDeliveryView)
  @Throws({
    NOT_FOUND: ['Webhook not found', 'Delivery not found'],
    CONFLICT: 'The webhook is inactive; activate it first',
  })
  @HttpCode(HttpStatus.ACCEPTED)
  async redeliver(
    @Id() id: number,
    @Id('delivery') delivery: number,
  ): Promise<{ data: WebhookDeliveryView }> {
    return { data: toDeliveryView(await this.webhooks.redeliver(id, delivery)) };
  }
}
