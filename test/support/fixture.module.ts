import {
  Controller,
  Get,
  Injectable,
  Module,
  type OnModuleInit,
  Post,
  Query,
  Req,
  Res,
} from '@nestjs/common';
import { InjectRepository, TypeOrmModule } from '@nestjs/typeorm';
import type { FastifyReply, FastifyRequest } from 'fastify';
import {
  Column,
  DataSource,
  Entity,
  type FindOptionsWhere,
  JoinColumn,
  ManyToOne,
  MoreThan,
  type Repository,
  VersionColumn,
} from 'typeorm';
import { Account } from '../../src/accounts/account.entity.js';
import { AccountData, CurrentAccount, OwnerAccess } from '../../src/platform/access/index.js';
import { Changes, ChangesModule, defineEvents } from '../../src/platform/changes/index.js';
import { IdColumn, IntegerColumn, TextColumn, TimestampColumn } from '../../src/platform/database/columns.js';
import { isForeignKeyViolation } from '../../src/platform/database/failures.js';
import { columnTypes } from '../../src/platform/database/migrations/column-types.js';
import { growVersions } from '../../src/platform/database/migrations/row-versions.js';
import { Transactions } from '../../src/platform/database/transactions.js';
import { AppError, ERRORS } from '../../src/platform/http/errors/errors.js';
import { AnyContentType } from '../../src/platform/http/json-body.js';
import { CarriesJsonText, JsonText } from '../../src/platform/http/json-text.js';
import type { Page } from '../../src/platform/http/pages/page.js';
import { PageRequest } from '../../src/platform/http/pages/page-request.js';
import type { QueryParameters } from '../../src/platform/http/query.js';
import { created } from '../../src/platform/http/responses/created.js';
import { ReplyWithEntityTag, withEntityTag } from '../../src/platform/http/responses/entity-tag.js';
import { paged, type Paged } from '../../src/platform/http/responses/paged.js';
import { Id } from '../../src/platform/http/validation/id.js';
import { Clock } from '../../src/platform/jobs/clock.js';
import { Idempotent } from '../../src/platform/idempotency/idempotent.js';
import { QuickPasswordsModule } from './quick-passwords.module.js';

export const TICKETS_PATH = '/v1/tickets';

/** What tests of the platform store: it has an owner, a text, a status and a counter. */
@Entity('tickets')
export class Ticket {
  @IdColumn()
  id!: number;

  /** Null in open mode, and after the account was deleted. */
  @IntegerColumn('account_id', { nullable: true })
  accountId!: number | null;

  @ManyToOne(() => Account, { nullable: true, onDelete: 'SET NULL' })
  @JoinColumn({ name: 'account_id', foreignKeyConstraintName: 'tickets_account_id_fkey' })
  account?: Account | null;

  @TextColumn('text')
  text!: string;

  @TextColumn('status')
  status!: 'created';

  @Column('integer', { default: 0 })
  counter!: number;

  @TimestampColumn('created_at')
  createdAt!: Date;

  @VersionColumn({ default: 1 })
  version!: number;
}

class TicketView {
  readonly id!: number;
  readonly status!: string;
  /** A JSON object, as it was sent. */
  readonly text!: JsonText;
  readonly counter!: number;
  readonly created_at!: string;
}

export const toTicketView = ({ id, status, text, counter, createdAt }: Ticket): TicketView => ({
  id,
  status,
  text: new JsonText(text),
  counter,
  created_at: createdAt.toISOString(),
});

const EVENTS = defineEvents({
  resource: 'ticket',
  collection: TICKETS_PATH,
  changes: ['created'],
  isPrivate: true,
  view: TicketView,
});

const visibleTo = (reader: Account | null): FindOptionsWhere<Ticket> =>
  reader === null || reader.isStaff ? {} : { accountId: reader.id };

@Injectable()
export class TicketsService {
  constructor(
    @InjectRepository(Ticket) private readonly tickets: Repository<Ticket>,
    private readonly transactions: Transactions,
    private readonly changes: Changes,
    private readonly clock: Clock,
  ) {}

  async list(page: PageRequest, reader: Account | null): Promise<Page<Ticket>> {
    const [rows, total] = await this.tickets.findAndCount({
      where: visibleTo(reader),
      order: { id: 'DESC' },
      skip: page.offset,
      take: page.limit,
    });
    return page.of(rows, total);
  }

  async findOne(id: number, reader: Account | null): Promise<Ticket> {
    const ticket = await this.tickets.findOneBy({ ...visibleTo(reader), id });
    if (!ticket) throw new AppError('NOT_FOUND', 'Ticket not found');
    return ticket;
  }

  /** @throws AppError `UNAUTHENTICATED` when the owner was deleted after the authentication */
  create(text: string, owner: Account | null): Promise<Ticket> {
    const accountId = owner?.id ?? null;
    const insert = async () => {
      const createdAt = this.clock.now();
      const { id } = await this.tickets.save({ accountId, text, status: 'created', createdAt });
      const ticket = await this.tickets.findOneByOrFail({ id });
      await this.changes.record(EVENTS.of('created', toTicketView(ticket), { ownerId: accountId }));
      return ticket;
    };
    return this.transactions.run(insert).catch((error: unknown) => {
      if (!isForeignKeyViolation(error)) throw error;
      throw new AppError('UNAUTHENTICATED', ERRORS.UNAUTHENTICATED.message, { cause: error });
    });
  }

  async *ownedBy(accountId: number): AsyncGenerator<TicketView[]> {
    for (let last = 0; ;) {
      const where = { accountId, id: MoreThan(last) };
      const batch = await this.tickets.find({ where, order: { id: 'ASC' }, take: 100 });
      if (batch.length === 0) return;
      yield batch.map(toTicketView);
      last = batch.at(-1)!.id;
    }
  }
}

/** A JSON object is the text of a new ticket, once for each key; a ticket is visible to its owner and staff. */
@Controller({ path: 'tickets', version: '1' })
@OwnerAccess()
class TicketsController {
  constructor(private readonly tickets: TicketsService) {}

  @Get()
  @CarriesJsonText()
  async list(
    @Query() query: QueryParameters,
    @CurrentAccount() account: Account | null,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<Paged<TicketView>> {
    const page = await this.tickets.list(PageRequest.from(query), account);
    return paged(reply, page.map(toTicketView));
  }

  @Post()
  @AnyContentType({ bodyLimit: 64 * 1024, maxItems: Infinity, keepBodyText: true })
  @CarriesJsonText()
  @Idempotent({ required: true })
  async create(
    @Req() { body = {}, context }: FastifyRequest,
    @CurrentAccount() account: Account | null,
    @ReplyWithEntityTag() reply: FastifyReply,
  ): Promise<{ data: TicketView }> {
    if (typeof body !== 'object') throw new AppError('VALIDATION_ERROR', 'The body must be a JSON object');
    const ticket = await this.tickets.create(context.bodyText ?? '{}', account);
    return created(reply, TICKETS_PATH, toTicketView(withEntityTag(reply, ticket)));
  }

  @Get(':id')
  @CarriesJsonText()
  async read(
    @Id() id: number,
    @CurrentAccount() account: Account | null,
    @ReplyWithEntityTag() reply: FastifyReply,
  ): Promise<{ data: TicketView }> {
    return { data: toTicketView(withEntityTag(reply, await this.tickets.findOne(id, account))) };
  }
}

/** A module of the kind that teams have, so that tests of the platform need none of the product. */
@Module({
  imports: [TypeOrmModule.forFeature([Ticket]), ChangesModule.forFeature(EVENTS), QuickPasswordsModule],
  controllers: [TicketsController],
  providers: [TicketsService],
  exports: [TicketsService],
})
export class FixtureModule implements OnModuleInit {
  constructor(
    private readonly source: DataSource,
    accountData: AccountData,
    tickets: TicketsService,
  ) {
    accountData.register({ exports: { tickets: ({ id }) => tickets.ownedBy(id) } });
  }

  /** Not by a migration: the tests of a process share those, and the programs that they start know none of it. */
  async onModuleInit(): Promise<void> {
    const runner = this.source.createQueryRunner();
    const { id, integer, text, timestamp } = columnTypes(runner);
    try {
      if (await runner.hasTable('tickets')) return;
      await runner.query(`
        CREATE TABLE tickets (
          "id" ${id},
          account_id ${integer},
          text ${text} NOT NULL,
          status ${text} NOT NULL,
          counter integer NOT NULL DEFAULT 0,
          created_at ${timestamp} NOT NULL,
          version integer NOT NULL DEFAULT 1,
          CONSTRAINT "tickets_account_id_fkey" FOREIGN KEY ("account_id") REFERENCES "accounts" ("id")
            ON DELETE SET NULL
        )`);
      await growVersions(runner, 'tickets');
    } finally {
      await runner.release();
    }
  }
}
