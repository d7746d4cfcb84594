import type { MigrationInterface, QueryRunner } from 'typeorm';

/** An index for `?status=…&sort_by=title`, which otherwise reads every post of the status for each page. */
export class PostTitleByStatus1763700000052 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query('CREATE INDEX posts_status_title ON posts (status, title, id)');
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('DROP INDEX posts_status_title');
  }
}
