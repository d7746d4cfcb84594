import { generateKeyPairSync } from 'node:crypto';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from '@jest/globals';
import { ANY_DATABASE, STORES } from '../../../test/support/stores.js';
import { loadCommandConfig, loadConfig } from './load-config.js';
import { loadStoreConfig } from './store.js';

describe('loadConfig', () => {
  const folder = mkdtempSync(join(tmpdir(), 'config-'));
  const DATA_DIR = join(folder, 'data');
  const BASE = { ...ANY_DATABASE, DATA_DIR };
  afterAll(() => rmSync(folder, { recursive: true }));

  it('has a default for every setting', () => {
    expect(loadConfig(BASE)).toEqual({
      auditRetentionDays: 365,
      rateLimit: undefined,
      redisUrl: undefined,
      production: false,
      serves: true,
      usesDatabase: true,
      host: '127.0.0.1',
      port: 3000,
      metricsPort: undefined,
      store: loadStoreConfig(BASE).store,
      migrateAtStart: true,
      writeAccess: 'open',
      jwtSecret: expect.any(String),
      jwtSecretPrevious: undefined,
      jwtPrivateKey: undefined,
      jwtPrivateKeyPrevious: undefined,
      jwtAudience: undefined,
      encryptionKey: undefined,
      encryptionKeyPrevious: undefined,
      passwordPolicy: 'length',
      passwordBreachUrl: undefined,
      refreshReuse: 'refuse',
      loginMaxDays: 90,
      registrationOpen: true,
      publicUrl: 'http://127.0.0.1:3000',
      basePath: '',
      social: { clients: {}, redirect: undefined },
      mail: {
        kind: 'folder',
        directory: join(DATA_DIR, 'mail'),
        from: { name: 'Posts API', address: 'no-reply@localhost' },
      },
      accountLinksUrl: undefined,
      requireVerifiedEmail: false,
      trustedProxies: [],
      corsOrigins: '*',
      eventsRetentionDays: 7,
      webhooksAllowPrivate: true,
      graphql: {
        playground: true,
        persistedQueries: false,
        introspection: true,
        suggestions: true,
        limits: { depth: 10, aliases: 30, directives: 30, repeatedFields: 20, tokens: 2000, cost: 20_000 },
      },
      logLevel: 'info',
      drainDelay: 500,
      metricsHost: '127.0.0.1',
      developmentNote: expect.any(String),
    });
  });

  it('says what development mode means, if it holds', () => {
    const settings = { JWT_SECRET: 'ax'.repeat(16), WRITE_ACCESS: 'staff', SMTP_URL: 'smtp://localhost' };
    const mail = { MAIL_FROM: 'posts@example.com', PUBLIC_URL: 'https://api.example.com' };

    expect(loadConfig(BASE).developmentNote).toBe(
      `Development mode: everyone may change data; the signing key is generated and kept in ${DATA_DIR}/jwt-secret; ` +
        `mails are written to ${DATA_DIR}/mail. Set NODE_ENV=production to serve others`,
    );
    expect(loadConfig({ ...BASE, ...settings, ...mail }).developmentNote).toBe(
      'Development mode. Set NODE_ENV=production to serve others',
    );
    const production = loadConfig({ NODE_ENV: 'production', ...BASE, ...settings, ...mail });
    expect(production.developmentNote).toBeUndefined();
  });

  it('rejects a key of ES256 without the issuer of its tokens', () => {
    const key = generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey.export({
      type: 'sec1',
      format: 'pem',
    });
    for (const name of ['JWT_PRIVATE_KEY', 'JWT_PRIVATE_KEY_PREVIOUS'])
      expect(() => loadConfig({ ...BASE, [name]: String(key) })).toThrow(
        `PUBLIC_URL must be set together with ${name}`,
      );
  });

  it.each([
    ['JWT_SECRET', 'x'.repeat(64)],
    ['JWT_SECRET_PREVIOUS', '-'.repeat(32)],
    ['ENCRYPTION_KEY', `${'A'.repeat(43)}=`],
    ['ENCRYPTION_KEY_PREVIOUS', `${'A'.repeat(43)}=`],
    ['ENCRYPTION_KEY', Buffer.from('x'.repeat(32)).toString('base64')],
  ])('rejects one repeated character as %s in production', (name, secret) => {
    const production = {
      ...BASE,
      NODE_ENV: 'production',
      WRITE_ACCESS: 'staff',
      JWT_SECRET: 'ax'.repeat(16),
      [name]: secret,
    };
    expect(() => loadConfig(production)).toThrow(
      `Invalid configuration:\n  ${name} must not be one repeated character when NODE_ENV is production`,
    );
    expect(() => loadConfig({ ...production, NODE_ENV: 'development' })).not.toThrow();
  });

  it('is deeply frozen', () => {
    const config = loadConfig({ ...BASE, CORS_ORIGINS: 'https://a.example' });

    expect(Object.isFrozen(config)).toBe(true);
    expect(Object.isFrozen(config.store)).toBe(true);
    expect(Object.isFrozen(config.corsOrigins)).toBe(true);
    expect(Object.isFrozen(config.trustedProxies)).toBe(true);
  });

  it('generates a development secret, and keeps it in a file that only its owner can read', () => {
    const { jwtSecret } = loadConfig(BASE);

    expect(jwtSecret.length).toBeGreaterThanOrEqual(32);
    expect(loadConfig(BASE).jwtSecret).toBe(jwtSecret);
    const file = join(DATA_DIR, 'jwt-secret');
    expect(readFileSync(file, 'utf8')).toBe(jwtSecret);
    expect(statSync(file).mode & 0o077).toBe(0);
  });

  it.each(['', 'short'])('rejects a stored secret that is unusable: %j', (kept) => {
    const folder2 = join(folder, `kept-${kept}`);
    mkdirSync(folder2);
    writeFileSync(join(folder2, 'jwt-secret'), kept);

    expect(() => loadConfig({ ...BASE, DATA_DIR: folder2 })).toThrow(/jwt-secret contains no valid key/);
  });

  it('makes the data folder private to its owner', () => {
    loadConfig({ ...BASE, DATA_DIR: join(folder, 'private') });

    expect(statSync(join(folder, 'private')).mode & 0o077).toBe(0);
  });

  it('names a data folder that cannot be created', () => {
    const file = join(folder, 'file');
    writeFileSync(file, '');

    expect(() => loadConfig({ ...BASE, DATA_DIR: file })).toThrow(/^DATA_DIR cannot be used/);
  });

  it('treats an empty variable as absent', () => {
    const empty = { PORT: '', ...(STORES.includes('SQLite') && { DATABASE_URL: '' }) };

    const { port, store } = loadConfig({ ...BASE, ...empty });
    expect([port, store]).toEqual([3000, loadStoreConfig(BASE).store]);
  });

  it.each([
    ['NODE_ENV', 'staging'],
    ['PORT', 'http'],
    ['PORT', '-1'],
    ['PORT', '65536'],
    ['METRICS_PORT', 'on'],
    ['METRICS_PORT', '3000'],
    ['PORT', '3000.5'],
    ['DATABASE_URL', 'mysql://user:hunter2@db/posts'],
    ['DATABASE_URL', 'hunter2'],
    ['DATABASE_URL', 'postgres://'],
    ['DATABASE_URL', 'postgres://user:hunter2@db.example:5432'],
    ['DATABASE_URL', 'postgres://db.example/posts'],
    ['DATABASE_URL', 'postgres://user:hunter%2@db.example/posts'],
    ['DATABASE_URL', 'postgres://user:hunter2@a.example:5432,/posts'],
    ['DATABASE_URL', 'postgres://user:hunter2@a.example:5432,b.example:x/posts'],
    ['DATABASE_URL', 'postgres://user:hunter2@/posts?host=a.example,b.example'],
    ['DATABASE_URL', 'postgres://user:hunter2@a.example,b.example/posts?target_session_attrs=any'],
    ['DATABASE_POOL_SIZE', '0'],
    ['MIGRATE', 'yes'],
    ['DATABASE_POOLER', 'session'],
    ['DATABASE_PREPARED_STATEMENTS', 'never'],
    ['WRITE_ACCESS', 'everyone'],
    ['JWT_SECRET', 'hunter2'],
    ['JWT_SECRET_PREVIOUS', 'hunter2'],
    ['JWT_SECRET_FILE', '/nowhere/hunter2'],
    ['JWT_PRIVATE_KEY', 'hunter2'],
    ['ENCRYPTION_KEY', 'hunter2'],
    ['ENCRYPTION_KEY_PREVIOUS', 'aHVudGVyMg=='],
    ['LOGIN_MAX_DAYS', '0'],
    ['REGISTRATION', 'hunter2'],
    ['PASSWORD_BREACH_URL', 'hunter2'],
    ['PASSWORD_BREACH_URL', 'https://user:hunter2@example.com'],
    ['PASSWORD_POLICY', 'none'],
    ['REFRESH_REUSE', 'yes'],
    ['TRUST_PROXY', 'true'],
    ['TRUST_PROXY', '*'],
    ['TRUST_PROXY', 'proxy.example'],
    ['TRUST_PROXY', '10.0.0.0/33'],
    ['TRUST_PROXY', '10.0.0.0/8/8'],
    ['TRUST_PROXY', '10.0.0.1,,10.0.0.2'],
    ['CORS_ORIGINS', 'https://a.example/path'],
    ['CORS_ORIGINS', 'hunter2'],
    ['CORS_ORIGINS', 'https://*.hunter2.example'],
    ['CORS_ORIGINS', 'https://a.example,*'],
    ['CORS_ORIGINS', 'capacitor://localhost/hunter2'],
    ['CORS_ORIGINS', 'file://hunter2'],
    ['RATE_LIMIT', '100'],
    ['RATE_LIMIT', '0/60'],
    ['RATE_LIMIT', '100/1.5'],
    ['REDIS_URL', 'hunter2'],
    ['AUDIT_RETENTION_DAYS', '0'],
    ['GRAPHQL_PLAYGROUND', 'yes'],
    ['GRAPHQL_INTROSPECTION', 'yes'],
    ['GRAPHQL_SUGGESTIONS', 'yes'],
    ['GRAPHQL_MAX_DEPTH', '0'],
    ['GRAPHQL_MAX_ALIASES', '-1'],
    ['GRAPHQL_MAX_DIRECTIVES', 'many'],
    ['GRAPHQL_MAX_REPEATED_FIELDS', '0'],
    ['GRAPHQL_MAX_TOKENS', '0'],
    ['GRAPHQL_MAX_COST', '1e9'],
    ['LOG_LEVEL', 'loud'],
    ['DRAIN_DELAY_MS', '60000'],
  ])('rejects %s=%s by its name, and never shows the value', (name, value) => {
    const start = () => loadConfig({ ...BASE, [name]: value });

    expect(start).toThrow(new RegExp(`${name} must be`));
    expect(start).not.toThrow(/hunter/);
  });

  it('names all invalid settings at once', () => {
    expect(() => loadConfig({ ...BASE, PORT: 'x', MIGRATE: 'x' })).toThrow(/MIGRATE[^]*PORT/);
  });

  it.each([[{}], [{ JWT_SECRET: 'short' }], [{ JWT_SECRET: '' }]])(
    'rejects the secret %j in production',
    (settings) => {
      expect(() => loadConfig({ ...BASE, NODE_ENV: 'production', ...settings })).toThrow(
        /JWT_SECRET must be/,
      );
    },
  );

  it('accepts a secret of 32 bytes in production', () => {
    const config = loadConfig({
      ...BASE,
      NODE_ENV: 'production',
      WRITE_ACCESS: 'open',
      JWT_SECRET: 'as'.repeat(16),
    });

    expect(config.production).toBe(true);
  });

  it('requires WRITE_ACCESS in production, and names the choices', () => {
    const production = { ...BASE, NODE_ENV: 'production', JWT_SECRET: 'as'.repeat(16) };

    expect(() => loadConfig(production)).toThrow(
      /WRITE_ACCESS must be set when NODE_ENV is production: .*open .*authenticated .*staff/,
    );
    for (const mode of ['open', 'authenticated', 'staff']) {
      expect(loadConfig({ ...production, WRITE_ACCESS: mode }).writeAccess).toBe(mode);
    }
  });

  it.each([
    [{ HOST: '::1', PORT: '4321' }, 'http://[::1]:4321'],
    [{ PUBLIC_URL: 'https://api.example.com/' }, 'https://api.example.com'],
  ])('has the same address of the service for commands: %j', (variables, expected) => {
    expect(loadConfig({ ...BASE, ...variables }).publicUrl).toBe(expected);
    expect(loadCommandConfig({ ...BASE, ...variables }).publicUrl).toBe(expected);
  });

  it.each(['https://ada@api.example.com', 'https://ada:pw@api.example.com', 'https://:pw@api.example.com'])(
    'rejects an address of the service with credentials, which events would show: %s',
    (address) => {
      expect(() => loadConfig({ ...BASE, PUBLIC_URL: address })).toThrow(
        'PUBLIC_URL must be the address of this service, without credentials',
      );
    },
  );

  it('defaults to the strict password policy in production', () => {
    const production = {
      ...BASE,
      NODE_ENV: 'production',
      WRITE_ACCESS: 'open',
      JWT_SECRET: 'as'.repeat(16),
    };

    expect(loadConfig(production).passwordPolicy).toBe('strict');
    expect(loadCommandConfig({ ...BASE, NODE_ENV: 'production' }).passwordPolicy).toBe('strict');
    expect(loadConfig({ ...production, PASSWORD_POLICY: 'length' }).passwordPolicy).toBe('length');
    expect(loadConfig(production).refreshReuse).toBe('revoke');
    expect(loadConfig({ ...production, REFRESH_REUSE: 'refuse' }).refreshReuse).toBe('refuse');
  });

  it('accepts proxies by address and by network', () => {
    const TRUST_PROXY = '10.0.0.1, 10.0.0.0/8,fd00::/8,::1';

    expect(loadConfig({ ...BASE, TRUST_PROXY }).trustedProxies).toEqual([
      '10.0.0.1',
      '10.0.0.0/8',
      'fd00::/8',
      '::1',
    ]);
  });
});
