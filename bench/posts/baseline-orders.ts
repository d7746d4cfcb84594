/** Orders of the hand-written server: the steps of an idempotent request, without a structure. */
import { createHash, createHmac, randomBytes } from 'node:crypto';
import type { FastifyInstance, FastifyReply } from 'fastify';
import type { Row, Store } from './baseline-database.ts';

type Run = Store['run'];

const DAY = 24 * 60 * 60_000;

/** The statements of orders. They claim the key before the order is inserted; the service inserts the record at the end. */
export const orderStatements = (postgres: boolean) => {
  // On PostgreSQL, events get their epoch later.
  const [column, epoch] = postgres ? ['', ''] : ['epoch, ', '(SELECT epoch FROM event_log WHERE id = 1), '];
  return {
    findRecord: `SELECT fingerprint, status, headers, body FROM idempotency_records
      WHERE id = :id AND expires_at > :now`,
    claim: `INSERT INTO idempotency_records (id, fingerprint, status, headers, expires_at)
      VALUES (:id, :fingerprint, 0, '', :expiresAt) ON CONFLICT (id) DO NOTHING RETURNING id`,
    insertOrder: `INSERT INTO orders (status, payload, created_at) VALUES ('created', :payload, :now)
      RETURNING id, version`,
    orderEvent: `INSERT INTO events (${column}type, subject, time, data, is_private)
      VALUES (${epoch}'order.created', :subject, :now, :data, TRUE)`,
    store: `UPDATE idempotency_records SET status = :status, headers = :headers, body = :body, size = :size
      WHERE id = :id`,
  };
};

const secret = randomBytes(32);

export function serveOrders(app: FastifyInstance, { run, inTransaction }: Store): void {
  app.post('/v1/orders', { bodyLimit: 64 * 1024 }, async (request, reply) => {
    const key = String(request.headers['idempotency-key'] ?? '').trim();
    if (!/^[\x21-\x7e]{1,255}$/.test(key)) return reply.code(400).send();
    const { body } = request;
    if (typeof body !== 'object' || body === null || Array.isArray(body)) return reply.code(422).send();
    const scope = JSON.stringify([null, 'POST', '/v1/orders', {}, key]);
    const id = createHash('sha256').update(scope).digest('base64url');
    const fingerprint = createHmac('sha256', secret).update(canonical(body)).digest('base64url');
    const now = new Date();
    const [stored] = await run('findRecord', { id, now: now.toISOString() });
    if (stored) return send(reply, stored, fingerprint);
    const response = await inTransaction((each) => place(each, { id, fingerprint, now, body }));
    return response ? send(reply, response, fingerprint) : reply.code(409).send();
  });
}

/** A generator, because the statements of one database are synchronous, and those of the other are not. */
function* place(
  run: Run,
  { id, fingerprint, now, body }: { id: string; fingerprint: string; now: Date; body: object },
): Generator<ReturnType<Run>, Row | undefined, Row[]> {
  const expiresAt = new Date(now.getTime() + DAY).toISOString();
  const claimed = yield run('claim', { id, fingerprint, expiresAt });
  if (claimed.length === 0) return undefined;
  const payload = JSON.stringify(body);
  const [row] = yield run('insertOrder', { payload, now: now.toISOString() });
  const data = `{"id":${row!['id']},"status":"created","payload":${payload},"created_at":"${now.toISOString()}"}`;
  yield run('orderEvent', { subject: `/v1/orders/${row!['id']}`, now: now.toISOString(), data });
  const response = {
    status: 201,
    headers: JSON.stringify({
      'content-type': 'application/json; charset=utf-8',
      location: `/v1/orders/${row!['id']}`,
      etag: `"${row!['version']}-${now.getTime().toString(36)}"`,
      'cache-control': 'no-cache',
    }),
    body: `{"data":${data}}`,
  };
  yield run('store', { id, ...response, size: 300 + response.headers.length + response.body.length });
  return { ...response, fingerprint };
}

function send(reply: FastifyReply, { status, headers, body, fingerprint }: Row, expected: string) {
  if (fingerprint !== expected) return reply.code(422).send();
  return reply.code(status).headers(JSON.parse(headers)).send(body);
}

/** JSON with the members of each object in order. */
const canonical = (value: unknown): string =>
  JSON.stringify(value, (_, member: unknown) =>
    typeof member === 'object' && member !== null && !Array.isArray(member)
      ? Object.fromEntries(Object.entries(member).toSorted(([a], [b]) => (a < b ? -1 : 1)))
      : member,
  );
