import { Module, type OnModuleInit } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { DataSource } from 'typeorm';
import { ChangesModule } from '../../src/platform/changes/index.js';
import { Dummy } from './fixture/dummy.entity.js';
import { DummyLists } from './fixture/dummy-lists.js';
import { DUMMY_EVENTS } from './fixture/dummy.view.js';
import { DummiesController } from './fixture/dummies.controller.js';
import { DummiesResolver } from './fixture/dummies.resolver.js';
import { DummiesService } from './fixture/dummies.service.js';
import { createTables } from './fixture/tables.js';
import { Stub, STUB_EVENTS, StubsController, StubsService } from './fixture/stubs.js';
import { QuickPasswordsModule } from './quick-passwords.module.js';

/**
 * Resources of the kind that teams have, so that tests of the platform need none of the product: dummies, as
 * `npm run make:module` makes them, and stubs, which belong to their account and need a key.
 */
@Module({
  imports: [
    TypeOrmModule.forFeature([Dummy, Stub]),
    ChangesModule.forFeature(DUMMY_EVENTS, STUB_EVENTS),
    QuickPasswordsModule,
  ],
  controllers: [DummiesController, StubsController],
  providers: [DummiesService, DummyLists, DummiesResolver, StubsService],
  exports: [DummiesService, StubsService],
})
export class FixtureModule implements OnModuleInit {
  constructor(private readonly source: DataSource) {}

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
