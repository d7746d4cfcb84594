import { Module, type OnModuleInit } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { DataSource } from 'typeorm';
import { AccountData } from '../../src/platform/access/index.js';
import { ChangesModule } from '../../src/platform/changes/index.js';
import { Sample } from './fixture/sample.entity.js';
import { SampleLists } from './fixture/sample-lists.js';
import { SAMPLE_EVENTS } from './fixture/sample.view.js';
import { SamplesController } from './fixture/samples.controller.js';
import { SamplesResolver } from './fixture/samples.resolver.js';
import { SamplesService } from './fixture/samples.service.js';
import { createTables } from './fixture/tables.js';
import { Ticket, TICKET_EVENTS, TicketsController, TicketsService } from './fixture/tickets.js';
import { QuickPasswordsModule } from './quick-passwords.module.js';

/**
 * Resources of the kind that teams have, so that tests of the platform need none of the product: samples, as
 * `npm run make:module` makes them, and tickets, which belong to their account and need a key.
 */
@Module({
  imports: [
    TypeOrmModule.forFeature([Sample, Ticket]),
    ChangesModule.forFeature(SAMPLE_EVENTS, TICKET_EVENTS),
    QuickPasswordsModule,
  ],
  controllers: [SamplesController, TicketsController],
  providers: [SamplesService, SampleLists, SamplesResolver, TicketsService],
  exports: [SamplesService, TicketsService],
})
export class FixtureModule implements OnModuleInit {
  constructor(
    private readonly source: DataSource,
    accountData: AccountData,
    tickets: TicketsService,
  ) {
    accountData.register({ exports: { tickets: ({ id }) => tickets.ownedBy(id) } });
  }

  /** Not by a migration: the tests of a process share those. `fixture-host.ts` has one. */
  async onModuleInit(): Promise<void> {
    const runner = this.source.createQueryRunner();
    try {
      await createTables(runner);
    } finally {
      await runner.release();
    }
  }
}
