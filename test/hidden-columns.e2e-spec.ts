import { expect, it } from '@jest/globals';
import {
  ClassSerializerInterceptor,
  Controller,
  Get,
  type INestApplication,
  Module,
  Param,
  Req,
  UseInterceptors,
} from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import { DataSource, type EntityMetadata } from 'typeorm';
import { ApiKey } from '../src/accounts/api-key/api-key.entity.js';
import { Public } from '../src/platform/access/index.js';
import { bearer, PASSWORD } from './support/accounts.js';
import { onEach } from './support/on-each.js';

/** Secrets, hashes of them, and what only statements use. */
const HIDDEN = [
  'accounts.email_key',
  'accounts.name_folded',
  'accounts.password_hash',
  'api_keys.key_hash',
  'one_time_secrets.id',
  'sessions.previous_jti',
  'sessions.refresh_jti',
  'sessions.secret_hash',
  'totp_factors.secret',
  'webhooks.replaced_secrets',
  'webhooks.secret',
];

/** Other modules may hide columns of their own. */
const TABLES = new Set(HIDDEN.map((name) => name.split('.')[0]));

/** Names of columns that are probably secret. */
const SUSPICIOUS = /hash|secret|password$|folded|jti|token|_key$|private/;

/** Handlers of somebody who returns what the repository and the request have. */
@Controller('careless')
class CarelessController {
  constructor(private readonly source: DataSource) {}

  @Get('me')
  me(@Req() request: FastifyRequest): unknown {
    return request.user;
  }

  @Get('keys')
  keys(): Promise<unknown> {
    return this.source.getRepository(ApiKey).find({ relations: { account: true } });
  }

  @Get('rows/:table')
  @Public()
  rows(@Param('table') table: string): unknown {
    return withEveryColumn(this.source, table);
  }

  @Get('serialized/:table')
  @Public()
  @UseInterceptors(ClassSerializerInterceptor)
  serialized(@Param('table') table: string): unknown {
    return withEveryColumn(this.source, table);
  }
}

@Module({ controllers: [CarelessController] })
class CarelessModule {}

const metadataOf = (source: DataSource, table: string) =>
  source.entityMetadatas.find(({ tableName }) => tableName === table)!;

/** An entity in which every column was selected. Each has its own name as its value. */
function withEveryColumn(source: DataSource, table: string): object {
  const metadata = metadataOf(source, table);
  const entity = metadata.create();
  for (const column of metadata.columns) column.setEntityValue(entity, `value of ${column.databaseName}`);
  return entity;
}

const tablesOf = (app: INestApplication) =>
  app.get(DataSource).entityMetadatas.map(({ tableName }) => tableName);

onEach('A careless handler', { modules: [CarelessModule] }, ({ api }) => {
  const columnsOf = (table: string) => metadataOf(api.app.get(DataSource), table).columns;

  const namesOf = (isMeant: (column: EntityMetadata['columns'][number]) => boolean): string[] =>
    tablesOf(api.app).flatMap((table) =>
      columnsOf(table)
        .filter(isMeant)
        .map(({ databaseName }) => `${table}.${databaseName}`),
    );

  it.each(['rows', 'serialized'])(
    'returns no hidden column of any entity, even if it was selected (%s)',
    async (way) => {
      const hidden: string[] = [];
      for (const table of tablesOf(api.app)) {
        const { text } = await api.get(`/careless/${way}/${table}`);
        const missing = columnsOf(table).filter(
          ({ databaseName }) => !text.includes(`"value of ${databaseName}"`),
        );
        hidden.push(...missing.map(({ databaseName }) => `${table}.${databaseName}`));
      }

      expect(hidden.filter((name) => TABLES.has(name.split('.')[0])).toSorted()).toEqual(HIDDEN);
      const secrets = namesOf(({ isSelect, databaseName }) => !isSelect && SUSPICIOUS.test(databaseName));
      expect(hidden).toEqual(expect.arrayContaining(secrets));
    },
  );

  it('selects no hidden column that it does not name', () => {
    const selected = HIDDEN.filter((name) => {
      const [table, column] = name.split('.');
      return columnsOf(table!).find(({ databaseName }) => databaseName === column)!.isSelect;
    });

    // A primary key.
    expect(selected).toEqual(['one_time_secrets.id']);
  });

  it('meets no column with the name of a secret that is not hidden', () => {
    const names = namesOf(({ isSelect, databaseName }) => isSelect && SUSPICIOUS.test(databaseName));

    expect(names.filter((name) => !HIDDEN.includes(name))).toEqual([
      // The public half of a passkey.
      'passkeys.public_key',
    ]);
  });

  it('returns the calling account without its password', async () => {
    await api.accounts.register('ada@example.com');
    const { access } = await api.accounts.login('ada@example.com');
    const created = await api.post(
      '/auth/api-keys/',
      { name: 'CI', scope: 'read', password: PASSWORD },
      bearer(access),
    );
    expect(created).toHaveStatus(201);

    for (const token of [access, created.body.data.key as string]) {
      const { body } = await api.get('/careless/me', bearer(token));
      expect(body).toMatchObject({ email: 'ada@example.com', isActive: true });
      expect(Object.keys(body).filter((name) => /hash|secret|emailKey/i.test(name))).toEqual([]);
    }
    const { body, text } = await api.get('/careless/keys', bearer(access));
    expect(body).toMatchObject([{ name: 'CI', account: { email: 'ada@example.com' } }]);
    expect(text).not.toMatch(/argon2|hash/i);
  });
});
