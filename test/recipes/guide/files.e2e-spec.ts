import { randomBytes, randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { startApi, type TestApi } from '../../support/api.js';
import { ANY_STORE } from '../../support/stores.js';
import { FilesModule } from './files/files.module.js';

let api: TestApi;
let account: Record<string, string>;
beforeAll(async () => {
  api = await startApi(ANY_STORE, {}, [FilesModule]);
  account = await api.accounts.logInNew('ada@example.com');
});
afterAll(() => api.stop());

async function upload(bytes: Buffer<ArrayBuffer>, headers: Record<string, string>, url = '/v1/files') {
  const form = new FormData();
  form.set('file', new Blob([bytes]), 'file.bin');
  const request = new Request('http://localhost', { method: 'POST', body: form });
  return api.send({
    method: 'POST',
    url,
    headers: { ...headers, 'content-type': request.headers.get('content-type')! },
    payload: Buffer.from(await request.arrayBuffer()),
  });
}

it('uploads a file, and downloads the same bytes', async () => {
  const bytes = randomBytes(100_000);
  const uploaded = await upload(bytes, account);
  expect(uploaded).toHaveStatus(201);

  const url = `/v1/files/${uploaded.body.id}`;
  const { rawPayload, headers } = await api.app.inject({ url, headers: account });
  expect(rawPayload.equals(bytes)).toBe(true);
  expect(headers).toMatchObject({ 'content-disposition': 'attachment', 'content-length': '100000' });
});

it('rejects a large file, an unknown file, and an anonymous request', async () => {
  expect(await upload(randomBytes(10 * 1024 * 1024 + 1), account)).toBeError('PAYLOAD_TOO_LARGE');
  expect(await upload(randomBytes(1), {})).toBeError('UNAUTHENTICATED');
  expect(await api.get(`/v1/files/${randomUUID()}`, account)).toBeError('NOT_FOUND');
});

it('rejects forms at all other paths, as without it', async () => {
  for (const url of ['/auth/login/', '/graphql'])
    expect(await upload(randomBytes(1), account, url)).toBeError('UNSUPPORTED_MEDIA_TYPE');
});
