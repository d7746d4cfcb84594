import { deepStrictEqual } from 'node:assert';
import { randomUUID } from 'node:crypto';
import { POSTS_WITH_AUTHORS, UPDATE_USER, USER_WITH_POSTS, USERS } from './operations.ts';

interface Request {
  readonly path: string;
  readonly method?: string;
  readonly body?: string;
}

const REQUESTS: readonly Request[] = [
  { path: '/health' },
  { path: '/v1/posts/7' },
  { path: '/v1/posts/999999999' },
  { path: '/v1/posts' },
  { path: '/v1/posts?page=3&limit=7' },
  { path: '/v1/posts?status=draft' },
  { path: '/v1/posts/cursor' },
  { path: '/v1/posts/cursor?cursor=NTAw&limit=3' },
  { path: '/v1/posts', method: 'POST', body: '{"title":"The same","content":"On both"}' },
  { path: '/v1/posts/3', method: 'PATCH', body: '{"title":"The same"}' },
  { path: '/v1/posts/3', method: 'PATCH', body: '{}' },
  { path: '/v1/orders', method: 'POST', body: '{"item":"Tea"}' },
  ...[USERS, USER_WITH_POSTS, UPDATE_USER].map((operation) => ({
    path: '/graphql',
    method: 'POST',
    body: JSON.stringify(operation),
  })),
];

/** Compares the responses of both servers, headers included: only equal servers are measured. @throws AssertionError */
export async function compareResponses(a: string, b: string): Promise<void> {
  for (const request of REQUESTS) {
    const [ours, theirs] = [await response(a, request), await response(b, request)];
    deepStrictEqual(ours, theirs, `${request.method ?? 'GET'} ${request.path} is different`);
  }
  for (const operation of [USERS, USER_WITH_POSTS, POSTS_WITH_AUTHORS]) {
    const request = { method: 'POST', body: JSON.stringify(operation) };
    const [ours, theirs] = [
      await response(a, { ...request, path: '/graphql' }),
      await response(b, { ...request, path: '/apollo' }),
    ];
    deepStrictEqual(
      JSON.parse(ours.text),
      JSON.parse(theirs.text),
      `${operation.query} is different at Apollo`,
    );
  }
}

/** Ids and times differ between writes, and so do the headers that depend on them. */
async function response(url: string, { path, method = 'GET', body }: Request) {
  const reply = await fetch(url + path, {
    method,
    ...(body && {
      body,
      headers: {
        'content-type': 'application/json',
        ...(method === 'POST' && { 'idempotency-key': randomUUID() }),
      },
    }),
  });
  const headers = Object.fromEntries(reply.headers);
  const isWrite = method !== 'GET';
  const text = await reply.text();
  return {
    status: reply.status,
    headers: {
      ...headers,
      date: '',
      'x-request-id': headers['x-request-id']?.length,
      'keep-alive': '',
      ...(isWrite && headers['etag'] !== undefined && { etag: headers['etag'].replace(/[^"-]/g, '') }),
      ...(isWrite && { location: headers['location']?.replace(/\d+$/, ''), 'content-length': '' }),
    },
    text: isWrite ? text.replace(/"id":\d+/, '').replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, '') : text,
  };
}
