import { Controller, Get, Module } from '@nestjs/common';
import { Public } from '../../src/platform/access/index.js';
import { Queries } from '../../src/platform/database/queries.js';

/** Reads that end with their deadline, and one that waits for them. */
@Controller('endless')
@Public()
class EndlessController {
  constructor(private readonly queries: Queries) {}

  @Get()
  count() {
    return this.queries.search(
      this.queries.dialect.name === 'sqlite'
        ? 'WITH RECURSIVE numbers (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE within_deadline()) SELECT max(n) FROM numbers'
        : 'SELECT pg_sleep(60)',
    );
  }

  @Get('short')
  short() {
    return this.queries.search('SELECT 1 AS one');
  }
}

@Module({ controllers: [EndlessController] })
export class EndlessModule {}
