import type { MigrationInterface, QueryRunner } from 'typeorm';
import { columnTypes } from '../../../../../../src/platform/database/migrations/column-types.js';

export class Tasks1795500000000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    const { id, integer, text } = columnTypes(runner);
    await runner.query(`
      CREATE TABLE tasks (
        "id" ${id},
        title ${text} NOT NULL,
        status ${text} NOT NULL,
        priority ${integer}
      )`);
    await runner.query('CREATE INDEX tasks_priority ON tasks (status, priority, id)');
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('DROP TABLE tasks');
  }
}
