import { readFileSync } from 'node:fs';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Controller, Get, Module } from '@nestjs/common';
import { ApiOperation, ApiProperty, ApiSchema } from '@nestjs/swagger';
import { describeApi, REFERENCE_PARTS } from '../src/openapi.js';
import { ERRORS } from '../src/platform/http/errors/errors.js';
import { Returns } from '../src/platform/http/openapi/returns.js';
import { findHandlers } from '../src/platform/reference/handlers.js';
import { buildDocument } from '../src/platform/reference/build-document.js';
import { startApi, type TestApi } from './support/api.js';
import { type Operation, operations, ownOperations, reference } from './support/reference.js';
import { ANY_STORE } from './support/stores.js';

@ApiSchema({ name: 'AuditEntryCursorPage' })
class OtherPage {
  @ApiProperty()
  readonly text!: string;
}

@Controller('other-pages')
class OtherPagesController {
  @Get()
  @ApiOperation({ summary: 'Returns another page' })
  @Returns(OtherPage)
  read(): OtherPage {
    return { text: '' };
  }
}

@Module({ controllers: [OtherPagesController] })
class OtherPagesModule {}

/** The document as text, with no security of operations. */
const withoutSecurity = (document: object): any =>
  JSON.parse(
    JSON.stringify(document, (key, value) =>
      key === 'security' || key === 'x-credentials-unless-open' ? undefined : value,
    ),
  );

describe('the OpenAPI document', () => {
  let api: TestApi;
  beforeAll(async () => {
    api = await startApi(ANY_STORE);
    await api.listen();
  });
  afterAll(() => api.stop());

  it('equals the committed one', async () => {
    expect(JSON.parse(JSON.stringify(await buildDocument(api.app, describeApi(), REFERENCE_PARTS)))).toEqual(
      reference,
    );
  });

  it.each([
    ['open', undefined],
    ['staff', 'required'],
  ] as const)('is served as it holds with WRITE_ACCESS=%s', async (mode, credentials) => {
    const service = await startApi(ANY_STORE, { WRITE_ACCESS: mode });
    const { body, text } = await service.get('/openapi.json');
    await service.stop();

    expect(text).not.toMatch(/\n|x-credentials/);
    const governed = operations.filter(
      ({ operation }) => operation['x-credentials-unless-open'] === 'required',
    );
    for (const { method, path } of governed) {
      const session = { session: [], ...(method !== 'GET' && { csrf: [] }) };
      const { security } = body.paths[path][method.toLowerCase()];
      expect([path, security]).toEqual([path, credentials ? [{ bearer: [] }, session] : []]);
    }
    expect(body.paths['/v1/events'].get.security).toEqual(
      credentials ? [{}, { bearer: [] }, { session: [] }] : [],
    );
    expect(body.paths['/auth/me/'].get.security).toEqual([{ bearer: [] }, { session: [] }]);
    // Everything else is as committed.
    expect(withoutSecurity(body)).toEqual(withoutSecurity(reference));
  });

  it('contains every handler, with a summary', () => {
    // `UsersV1Controller.list` is `Users_list_v1`, and a handler of two versions has two operations.
    const ids = new Set<string>(
      operations.map(({ operation }) => operation.operationId.replace(/_v\d+$/, '')),
    );
    const expected = Array.from(
      findHandlers(api.app),
      ([key, { operationId }]) => operationId ?? key.replace(/(V\d+)?Controller\./, '_'),
    );

    expect([...new Set(expected)].toSorted()).toEqual([...ids].toSorted());
    expect(new Set(operations.map(({ operation }) => operation.operationId)).size).toBe(operations.length);
    for (const { operation } of operations) expect(operation.summary).toMatch(/^[A-Z]/);
  });

  it('links each operation to the guide that explains it', async () => {
    // A module of a team has no guide.
    const guideOf = ({ operation }: Operation): string | undefined =>
      /\nGuide: \[.+\]\((.+)\)$/.exec(`\n${operation.description}`)?.[1];
    const own = operations.filter((each) => guideOf(each) ?? ownOperations.includes(each));
    const targets = new Set(own.filter(({ path }) => path !== '/').map(guideOf));

    for (const target of targets) {
      const [path, anchor] = target!.split('#');
      const { status, text } = await api.get(path!);
      expect([target, status]).toEqual([target, 200]);
      expect(text).toContain(anchor === undefined ? '<h1' : `id="${anchor}"`);
    }
    expect(targets.size).toBeGreaterThan(8);
  });

  it('has an example of each parameter that imported collections can send unchanged', () => {
    const parameters = operations.flatMap(({ operation }) => (operation.parameters ?? []) as any[]);
    const examples: Record<string, unknown[]> = {
      cursor: [''],
      'If-Match': ['*'],
      id: [1, '1'],
      provider: ['google'],
    };

    expect(parameters.length).toBeGreaterThan(10);
    for (const { name, example } of parameters)
      expect([name, typeof example]).not.toEqual([name, 'undefined']);
    for (const { name, example } of parameters.filter((each) => each.name in examples))
      expect([name, examples[name]]).toEqual([name, expect.arrayContaining([example])]);
  });

  it('has a type beside each constant and each body that is one of several, for generators', () => {
    const texts = JSON.stringify(reference);
    expect(texts).not.toMatch(/"(enum|const)":[^\]}]*\\"/);
    const untyped: string[] = [];
    const check = (value: any, path: string): void => {
      if (typeof value !== 'object' || value === null) return;
      if ('const' in value && !('type' in value)) untyped.push(path);
      if (
        path.endsWith('/requestBody/content/application~json/schema') &&
        !('type' in value || '$ref' in value)
      )
        untyped.push(path);
      for (const [name, child] of Object.entries(value)) check(child, `${path}/${name.replaceAll('/', '~')}`);
    };
    check(reference.components, '');
    check(reference.paths, '');
    expect(untyped).toEqual([]);
  });

  it('declares 413 and 415 for each operation that may have a body', () => {
    for (const { method, path, operation } of operations.filter((each) => each.method !== 'GET'))
      expect([method, path, Object.keys(operation.responses)]).toEqual([
        method,
        path,
        expect.arrayContaining(['413', '415']),
      ]);
  });

  it('cannot be built when a view of a module has the name of another schema', async () => {
    const service = await startApi(ANY_STORE, {}, [OtherPagesModule]);
    await expect(buildDocument(service.app, describeApi(), REFERENCE_PARTS)).rejects.toThrow(
      'Two schemas of the reference are named AuditEntryCursorPage',
    );
    await service.stop();
  });

  it('has an explanation of every code on the page of errors', () => {
    const page = readFileSync('docs/errors.md', 'utf8');

    for (const [code, { status }] of Object.entries(ERRORS)) {
      // A row explains when the error occurs, and what to do.
      expect(page).toMatch(new RegExp(`^\\| \`${code}\` +\\| ${status} +\\| [A-Z].+ \\| [A-Z].+ \\|$`, 'm'));
    }
  });

  it('has a meaningful example for each text field of a body', () => {
    for (const { operation } of operations) {
      const { $ref = '' } = operation.requestBody?.content['application/json'].schema ?? {};
      const { properties = {} } = reference.components.schemas[$ref.split('/').at(-1)] ?? {};
      for (const [name, schema] of Object.entries<any>(properties)) {
        const isText = [schema.type].flat().includes('string');
        const says = ['example', 'examples', 'enum', 'const', 'format'].some((key) => key in schema);
        expect([operation.operationId, name, !isText || says]).toEqual([operation.operationId, name, true]);
      }
    }
  });
});

describe('the inputs of the reference', () => {
  it('have no default, because generators would require such a field', () => {
    const inputs = operations.flatMap(({ operation }) => {
      const { $ref = '' } = operation.requestBody?.content['application/json'].schema ?? {};
      return Object.entries<any>(reference.components.schemas[$ref.split('/').at(-1)]?.properties ?? {});
    });

    expect(inputs.length).toBeGreaterThan(20);
    expect(inputs.filter(([, schema]) => 'default' in schema)).toEqual([]);
  });
});

describe('the files for browsers and tools', () => {
  let api: TestApi;
  beforeAll(async () => {
    api = await startApi(ANY_STORE);
  });
  afterAll(() => api.stop());

  const FILES = [
    ['/openapi.json', 'application/json; charset=utf-8', 'no-cache'],
    ['/site/vendor/scalar.js', 'application/javascript; charset=utf-8', 'public, max-age=3600'],
    ['/graphql/playground/vendor/graphiql.css', 'text/css; charset=utf-8', 'public, max-age=3600'],
    ['/site/site.css', 'text/css; charset=utf-8', 'public, max-age=3600'],
  ] as const;

  it.each(FILES)('are compressed, for clients that accept it: %s', async (url, type, cacheControl) => {
    const plain = await api.app.inject({ url });
    for (const [encoding, decompress] of [
      ['br', brotliDecompressSync],
      ['gzip', gunzipSync],
    ] as const) {
      const reply = await api.app.inject({ url, headers: { 'accept-encoding': `${encoding}, deflate` } });
      expect(reply.headers).toMatchObject({
        'content-type': type,
        'content-encoding': encoding,
        'cache-control': cacheControl,
        vary: expect.stringMatching(/accept-encoding/i),
        'x-request-id': expect.any(String),
      });
      expect(decompress(reply.rawPayload).equals(plain.rawPayload)).toBe(true);
      expect(reply.rawPayload.length).toBeLessThan(plain.rawPayload.length / 1.5);
      expect(await api.get(`${url}.${encoding === 'br' ? 'br' : 'gz'}`)).toBeError('NOT_FOUND');
    }
    expect(plain.headers).not.toHaveProperty('content-encoding');
    expect(plain.headers['cache-control']).toBe(cacheControl);
  });

  it.each(FILES.map(([url]) => url))('have a tag, and are not sent again: %s', async (url) => {
    for (const encoding of ['identity', 'br']) {
      const headers = { 'accept-encoding': encoding };
      const tag = String((await api.app.inject({ url, headers })).headers.etag);
      const again = await api.app.inject({ url, headers: { ...headers, 'if-none-match': tag } });

      expect(tag).toMatch(/^(W\/)?".+"$/);
      expect([again.statusCode, again.payload]).toEqual([304, '']);
    }
  });
});
