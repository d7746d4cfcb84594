import type { MigrationInterface, QueryRunner } from 'typeorm';
import { columnTypes } from './column-types.js';

/** The source of an imported post, by which a second import finds it. */
export class PostSources1763700000041 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    const { text } = columnTypes(runner);
    await runner.query(`ALTER TABLE posts ADD COLUMN source ${text}`);
    await runner.query('CREATE UNIQUE INDEX posts_source ON posts (source) WHERE source IS NOT NULL');
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('DROP INDEX posts_source');
    await runner.query('ALTER TABLE posts DROP COLUMN source');
  }
}
