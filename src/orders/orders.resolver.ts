import {
  Args,
  Context,
  ID,
  Mutation,
  ObjectType,
  Parent,
  Query,
  ResolveField,
  Resolver,
} from '@nestjs/graphql';
import { CurrentAccount, OwnerAccess } from '../platform/access/index.js';
import type { Account } from '../accounts/account.entity.js';
import { JsonScalar } from '../platform/graphql/json.scalar.js';
import { JsonText } from '../platform/http/json-text.js';
import { RequestLoader } from '../platform/graphql/loading/request-loader.js';
import { TextLoader } from '../platform/graphql/loading/text-loader.js';
import {
  readConnection,
  Connection,
  ConnectionArgs,
  connectionCost,
  type ConnectionOf,
} from '../platform/graphql/connection.js';
import { IdPipe } from '../platform/http/validation/id.js';
import { KeyedOperations } from '../platform/idempotency/keyed-operations.service.js';
import type { OrderSummary } from './order.entity.js';
import { checkPayload } from './order.payload.js';
import { type OrderNode, ORDERS_PATH, OrderView, toOrderNode, toOrderView } from './order.view.js';
import { NEWEST_FIRST, OrdersService } from './orders.service.js';

@ObjectType({ description: 'A page of orders.' })
class OrderConnection extends Connection(OrderView) {}

@Resolver(() => OrderView)
@OwnerAccess()
export class OrdersResolver {
  private readonly byId = new RequestLoader<
    { id: number; reader: Account | null },
    OrderSummary | null,
    number
  >(
    async (wanted) => {
      // All fields of a request have the same reader.
      const orders = await this.service.findByIds(
        wanted.map(({ id }) => id),
        wanted[0]!.reader,
      );
      const byId = new Map(orders.map((order) => [order.id, order]));
      return wanted.map(({ id }) => byId.get(id) ?? null);
    },
    ({ id }) => id,
  );

  private readonly payloads = new TextLoader((ids) => this.service.payloadsOf(ids), 'Order', true);

  constructor(
    private readonly service: OrdersService,
    private readonly operations: KeyedOperations,
  ) {}

  @Query(() => OrderView, {
    nullable: true,
    description: 'One order; null when there is none with this id that the caller may read.',
  })
  async order(
    @Args('id', { type: () => ID }, IdPipe) id: number,
    @CurrentAccount() reader: Account | null,
    @Context() context: object,
  ): Promise<OrderNode | null> {
    const order = await this.byId.load(context, { id, reader });
    return order && toOrderNode(order);
  }

  @Query(() => OrderConnection, {
    description: 'The orders that the caller may read, the newest first.',
    complexity: connectionCost,
  })
  orders(
    @Args() args: ConnectionArgs,
    @CurrentAccount() reader: Account | null,
  ): Promise<ConnectionOf<OrderNode>> {
    return readConnection(args, NEWEST_FIRST, {
      rows: (page) => this.service.listAfter(page, reader),
      count: () => this.service.count(reader),
      toNode: toOrderNode,
    });
  }

  @ResolveField(() => JsonScalar, { description: 'A JSON object, as it was sent.' })
  async payload(@Parent() order: OrderNode, @Context() context: object): Promise<JsonText> {
    if ('payload_bytes' in order) {
      return new JsonText(await this.payloads.load(context, { id: order.id, bytes: order.payload_bytes }));
    }
    await this.payloads.countLoaded(context, order.payload['application/json']);
    return order.payload;
  }

  @Mutation(() => OrderView, {
    description: 'Creates an order, once for each key. The keys are those of `POST /v1/orders`.',
  })
  async createOrder(
    @Args('idempotencyKey', { description: '1 to 255 visible ASCII characters, new for each order.' })
    key: string,
    @Args('payload', {
      type: () => JsonScalar,
      nullable: true,
      description: 'A JSON object of at most 64 KiB; null is an empty one.',
    })
    value: unknown,
    @CurrentAccount() account: Account | null,
  ): Promise<OrderView> {
    const { payload, text } = checkPayload(value);
    const operation = { caller: account?.id ?? null, path: ORDERS_PATH, key, body: payload };
    const id = await this.operations.createOnce(operation, async () => {
      const row = await this.service.create(text, account);
      return { row, view: toOrderView(row) };
    });
    return toOrderView(await this.service.findOne(id, account));
  }
}
