import type { MigrationInterface, QueryRunner } from 'typeorm';
import { columnTypes } from '../../../../../../src/platform/database/migrations/column-types.js';

/** A new column, and how far a job has filled each column. */
export class TaskUrgency1795500000001 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    const { integer, text } = columnTypes(runner);
    await runner.query(`ALTER TABLE tasks ADD COLUMN urgency ${integer}`);
    await runner.query(`
      CREATE TABLE fills (
        "name" ${text} PRIMARY KEY NOT NULL,
        position ${integer} NOT NULL
      )`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('DROP TABLE fills');
    await runner.query('ALTER TABLE tasks DROP COLUMN urgency');
  }
}
