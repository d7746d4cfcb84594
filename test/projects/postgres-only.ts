/**
 * Makes a copy of the project run on PostgreSQL alone, as docs/postgresql-only.md says: a module uses what only
 * PostgreSQL has, with the migration that TypeORM generates, and the contracts, the checks and the tests pass. Part of
 * `npm run test:extra`.
 */
import { join } from 'node:path';
import { CopyOfProject } from '../support/copy-of-project.ts';
import { startPostgres } from '../support/postgres-server.ts';
import { Service } from '../support/service.ts';

const COLUMNS = `
  @Column({ type: 'enum', enum: ['open', 'done'], default: 'open' })
  status!: 'open' | 'done';

  @Column('text', { array: true, default: [] })
  tags!: string[];

  @Column('jsonb', { default: {} })
  settings!: Record<string, unknown>;
`;

const SCALAR = `import { JsonScalar } from '../platform/graphql/json.scalar.js';\n`;

const INPUT = `
  @Field(() => [String], { nullable: true, description: 'At most 20 tags.' })
  @OptionalField()
  @ApiProperty({ example: ['urgent'] })
  @ListOf('tag', { min: 0, max: 20 })
  tags?: string[];

  @Field(() => JsonScalar, { nullable: true, description: 'An object.' })
  @OptionalField()
  @ApiProperty({ example: { color: 'red' } })
  @JsonObject()
  settings?: Record<string, unknown>;
`;

const VIEW = `
  @Field(() => [String], { description: 'At most 20 tags.' })
  @ApiProperty({ type: 'array', items: { type: 'string' }, example: ['urgent'] })
  readonly tags!: readonly string[];

  @Field(() => JsonScalar, { description: 'An object.' })
  @ApiProperty({ type: 'object', additionalProperties: true, example: { color: 'red' } })
  readonly settings!: Record<string, unknown>;
`;

const TEST = `import { expect, it } from '@jest/globals';
import { DataSource } from 'typeorm';
import { Note } from '../src/notes/note.entity.js';
import { startApi } from './support/api.js';
import { STORES } from './support/stores.js';

it('the application uses what only PostgreSQL has', async () => {
  expect(STORES).toEqual(['PostgreSQL']);
  const api = await startApi('PostgreSQL');
  await api.post('/v1/notes', { text: 'A' });
  const seen = await api.app.get(DataSource).transaction('REPEATABLE READ', async (manager) => {
    const note = await manager.findOneOrFail(Note, { where: { id: 1 }, lock: { mode: 'pessimistic_write' } });
    expect(note).toMatchObject({ status: 'open', tags: [], settings: {} });
    await manager.save(Object.assign(note, { status: 'done', tags: ['a', 'b'], settings: { deep: [1] } }));
    return manager.findOneByOrFail(Note, { id: 1 });
  });

  expect(seen).toMatchObject({ status: 'done', tags: ['a', 'b'], settings: { deep: [1] } });
  await api.stop();
});

it('rejects what PostgreSQL cannot store', async () => {
  const api = await startApi('PostgreSQL');
  for (const wrong of [{ tags: ['a\\0'] }, { settings: { a: '\\0' } }, { settings: { '\\ud800': 1 } }])
    expect(await api.post('/v1/notes', { text: 'A', ...wrong })).toBeError('VALIDATION_ERROR', Object.keys(wrong));
  const note = (await api.post('/v1/notes', { text: 'A', tags: [], settings: { deep: { a: 'ß' } } })).body.data;
  expect(note).toMatchObject({ tags: [], settings: { deep: { a: 'ß' } } });
  await api.stop();
});
`;

const copy = CopyOfProject.untilExit();
const postgres = await startPostgres();
const DATABASE_URL = new URL(postgres.url);
DATABASE_URL.pathname = 'postgres_only';
try {
  await postgres.run('DROP DATABASE IF EXISTS postgres_only', 'CREATE DATABASE postgres_only');
  process.env['DATABASE_URL'] = DATABASE_URL.href;
  copy.edit('package.json', [[/"databases": \[[^\]]*\]/, '"databases": ["postgres"]']]);
  await copy.script('make:module', 'notes', 'text:text due:date? done:boolean?');
  await copy.mustRun('node', 'dist/commands/migrate.js', '--yes');
  copy.edit('src/notes/note.entity.ts', [
    [/import \{ Entity,/, 'import { Column, Entity,'],
    [/(?=\n  @TimestampColumn\('created_at')/, COLUMNS],
  ]);
  copy.edit('src/notes/note.input.ts', [
    [/(?<=text!: string;\n)/, INPUT],
    [/import \{ OptionalField,/, 'import { ListOf, OptionalField,'],
    [
      /(?=import \{ PartialInputType)/,
      `${SCALAR}import { JsonObject } from '../platform/http/validation/json-object.js';\n`,
    ],
  ]);
  copy.edit('src/notes/note.view.ts', [
    [/(?<=readonly text!: string;\n)/, VIEW],
    [/(?<=text: row\.text,)/, ' tags: row.tags, settings: row.settings,'],
    [/(?=import \{ Int64Property)/, SCALAR],
  ]);
  copy.edit('src/notes/notes.service.ts', [
    [/(?<=const fixed = \{)/, ' tags: input.tags ?? [], settings: input.settings ?? {},'],
  ]);
  await copy.script('typeorm', 'migration:generate', 'src/platform/database/migrations/note-status');
  console.log('The migration is generated');
  copy.write('test/postgres-only.e2e-spec.ts', TEST);
  await copy.mustRun('npx', 'prettier', '--write', '--log-level', 'warn', '.');
  await copy.check(['lint', 'types'], 'on PostgreSQL alone');

  delete process.env['DATABASE_URL'];
  await copy.script('contracts');
  await copy.test(
    'src/',
    'notes',
    'env-file',
    'deploy',
    'postgres-only',
    'test/database',
    'audit-routes',
    'migration-rules',
    'reference',
    'typeorm-commands',
  );
  console.log('The contracts and the tests need no SQLite');

  const main = join(copy.folder, 'dist/main.js');
  const failure = await Service.start({}, main).then(
    () => 'none',
    ({ message }: Error) => message,
  );
  if (!failure.includes('DATABASE_URL must be set'))
    throw new Error(`The start without a database: ${failure}`);
  const service = await Service.start({ DATABASE_URL: DATABASE_URL.href }, main);
  const created = await service.fetch('/v1/notes', {
    method: 'POST',
    body: '{"text": "A"}',
    headers: { 'content-type': 'application/json' },
  });
  await service.end();
  if (created.status !== 201) throw new Error(`A note was ${created.status}`);
  console.log('It is served');
} finally {
  await postgres.stop();
}
