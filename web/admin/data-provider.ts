import type { DataProvider, GetListParams, RaRecord } from 'react-admin';
import { HttpError } from 'react-admin';
import { api, ApiError, sent } from '../shared/api.js';
import { parseExactly } from '../shared/exact-json.js';

interface ResourceApi {
  /** The path of its list. */
  readonly path: string;
  /** Paths below `/auth/` end with a slash. */
  readonly slash?: string;
  /** A list with cursors instead of pages. */
  readonly hasCursors?: boolean;
  /** The response to one has no `data` around it. */
  readonly isBare?: boolean;
}

/** The resources whose API is not `/v1/<name>` with pages. `deliveries` are those of the webhook in the filter. */
const APIS: Readonly<Record<string, ResourceApi>> = {
  accounts: { path: '/auth/accounts', slash: '/', isBare: true },
  audit: { path: '/v1/audit', hasCursors: true },
  users: { path: '/v2/users' },
};

const apiOf = (resource: string): ResourceApi => APIS[resource] ?? { path: `/v1/${resource}` };

/** The client without the types of paths, which are put together here. */
const untyped = api as unknown as Record<
  'GET' | 'POST' | 'PATCH' | 'DELETE',
  (path: string, options: object) => Promise<{ data?: string; error?: unknown; response: Response }>
>;

/** @throws HttpError, which react-admin shows */
async function send(
  method: 'GET' | 'POST' | 'PATCH' | 'DELETE',
  path: string,
  options: { body?: unknown; query?: object; etag?: string | undefined } = {},
): Promise<{ data: any; etag: string | undefined }> {
  const { body, query, etag } = options;
  try {
    const { data, response } = await sent(
      untyped[method](path, {
        ...(body !== undefined && { body }),
        parseAs: 'text',
        params: { query },
        headers: etag === undefined ? {} : { 'if-match': etag },
      }),
    );
    return { data: data && parseExactly(data), etag: response.headers.get('etag') ?? undefined };
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    const errors = Object.fromEntries(error.details.map(({ field, message }) => [field, message]));
    throw new HttpError(error.message, error.status, { message: error.message, errors });
  }
}

/** The cursor at which each page begins, by the list that it is a page of: lists with cursors are read in order. */
const cursors = new Map<string, (string | undefined)[]>();

async function cursorPage({ path }: ResourceApi, { filter, pagination }: GetListParams) {
  const { page = 1, perPage = 20 } = pagination ?? {};
  const list = JSON.stringify([path, filter, perPage]);
  const known = cursors.get(list) ?? [undefined];
  cursors.set(list, known);
  let data: any;
  // After a reload, the page in the address is reached from the first one.
  for (let n = Math.min(page, known.length); n <= page; n++) {
    ({ data } = await send('GET', path, { query: { ...filter, limit: perPage, cursor: known[n - 1] } }));
    if (!data.has_next) break;
    known[n] = data.next_cursor;
  }
  return { data: data.data, pageInfo: { hasNextPage: data.has_next, hasPreviousPage: page > 1 } };
}

/** react-admin's access to the REST API. Each record has its entity tag, which a change sends back. */
export const dataProvider: DataProvider = {
  async getList(resource, params) {
    const of = apiOf(resource);
    if (of.hasCursors) return cursorPage(of, params);
    const { page = 1, perPage = 20 } = params.pagination ?? {};
    const { field, order = 'ASC' } = params.sort ?? {};
    const sort = resource === 'posts' && field !== 'id' && { sort_by: field, sort_dir: order.toLowerCase() };
    const query = { ...params.filter, ...sort, page, limit: perPage };
    const { data } = await send('GET', `${of.path}${of.slash ?? ''}`, { query });
    return { data: data.data, total: data.meta.total };
  },

  async getOne(resource, { id }) {
    const of = apiOf(resource);
    const { data, etag } = await send('GET', pathOf(of, id));
    return { data: { ...(of.isBare ? data : data.data), ...(etag !== undefined && { etag }) } };
  },

  async create(resource, { data: body }) {
    const { path, slash = '' } = apiOf(resource);
    const { data, etag } = await send('POST', `${path}${slash}`, { body });
    return { data: { ...data.data, ...(etag !== undefined && { etag }) } };
  },

  async update(resource, { id, data, previousData }) {
    const of = apiOf(resource);
    const changed = Object.entries(data).filter(
      ([name, value]) => name !== 'etag' && JSON.stringify(value) !== JSON.stringify(previousData?.[name]),
    );
    const { data: body, etag } = await send('PATCH', pathOf(of, id), {
      body: Object.fromEntries(changed),
      etag: previousData?.['etag'],
    });
    return { data: { ...(of.isBare ? body : body.data), ...(etag !== undefined && { etag }) } };
  },

  async delete(resource, { id, previousData }) {
    await send('DELETE', pathOf(apiOf(resource), id), { etag: previousData?.['etag'] });
    return { data: (previousData ?? { id }) as any };
  },

  getMany: async (resource, { ids }) => {
    const all = await Promise.all(ids.map((id) => dataProvider.getOne(resource, { id })));
    return { data: all.map(({ data }) => data) };
  },
  deleteMany: async (resource, { ids }) => {
    for (const id of ids) await dataProvider.delete(resource, { id });
    return { data: ids };
  },
  // The API has no call for these.
  getManyReference: () => Promise.reject(new Error('There are no lists of references')),
  updateMany: () => Promise.reject(new Error('Records are changed one by one')),
};

const pathOf = ({ path, slash = '' }: ResourceApi, id: RaRecord['id']): string =>
  `${path}/${encodeURIComponent(id)}${slash}`;
