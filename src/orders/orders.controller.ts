import { Controller, Get, Post, Query, Res } from '@nestjs/common';
import { ApiBody, ApiOperation, ApiTags } from '@nestjs/swagger';
import type { FastifyReply } from 'fastify';
import { CurrentAccount, OwnerAccess } from '../platform/access/index.js';
import type { Account } from '../accounts/account.entity.js';
import { withEntityTag, ReplyWithEntityTag } from '../platform/http/responses/entity-tag.js';
import { paged, type Paged } from '../platform/http/responses/paged.js';
import { created } from '../platform/http/responses/created.js';
import { AnyContentType } from '../platform/http/json-body.js';
import { CarriesJsonText } from '../platform/http/json-text.js';
import { ReturnsData, ReturnsPage, Throws } from '../platform/http/openapi/returns.js';
import { PageRequest } from '../platform/http/pages/page-request.js';
import { Id } from '../platform/http/validation/id.js';
import { Idempotent } from '../platform/idempotency/idempotent.js';
import { Payload, PAYLOAD_LIMIT } from './order.payload.js';
import { ANY_OBJECT, ORDERS_PATH, OrderView, toOrderView } from './order.view.js';
import { OrdersService } from './orders.service.js';

@ApiTags('Orders')
@Controller({ path: 'orders', version: '1' })
@OwnerAccess()
export class OrdersController {
  constructor(private readonly orders: OrdersService) {}

  @Get()
  @ApiOperation({ summary: 'Lists orders, the newest first' })
  @ReturnsPage(OrderView)
  @CarriesJsonText()
  async list(
    @Query() page: PageRequest,
    @CurrentAccount() account: Account | null,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<Paged<OrderView>> {
    return paged(reply, (await this.orders.list(page, account)).map(toOrderView));
  }

  @Post()
  @ApiOperation({ summary: 'Creates an order, once for each key' })
  @ApiBody({ schema: ANY_OBJECT, required: false })
  @ReturnsData(OrderView)
  @Throws({ VALIDATION_ERROR: 'The body must be a JSON object' })
  @AnyContentType({ bodyLimit: PAYLOAD_LIMIT, maxItems: Infinity, keepBodyText: true })
  @CarriesJsonText()
  @Idempotent({ required: true })
  async create(
    @Payload() payload: string,
    @CurrentAccount() account: Account | null,
    @ReplyWithEntityTag() reply: FastifyReply,
  ): Promise<{ data: OrderView }> {
    return created(
      reply,
      ORDERS_PATH,
      toOrderView(withEntityTag(reply, await this.orders.create(payload, account))),
    );
  }

  @Get(':id')
  @ApiOperation({ summary: 'Reads an order' })
  @ReturnsData(OrderView)
  @Throws({ NOT_FOUND: 'Order not found' })
  @CarriesJsonText()
  async read(
    @Id() id: number,
    @CurrentAccount() account: Account | null,
    @ReplyWithEntityTag() reply: FastifyReply,
  ): Promise<{ data: OrderView }> {
    return { data: toOrderView(withEntityTag(reply, await this.orders.get(id, account))) };
  }
}
