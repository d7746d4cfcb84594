import type { TestApi } from './api.js';

export type Row = Record<string, any>;
type Filter = (row: Row) => boolean;

/** The values of a parameter, each with the rows that it selects. */
export type Values = readonly (readonly [value: string, filter: Filter])[];

export const ALL: Filter = () => true;

/** What is compared, one for each combination of parameters. */
interface Compared {
  readonly found: unknown[];
  readonly expected: unknown[];
}

/** Reads a list with each combination of its parameters, as the caller with these headers. */
export class ListReader {
  constructor(
    private readonly api: TestApi,
    private readonly path: string,
    private readonly headers: Record<string, string> = {},
  ) {}

  async read(query: Record<string, string>): Promise<any> {
    return (await this.api.get(`${this.path}?${new URLSearchParams(query).toString()}`, this.headers)).body;
  }

  /** Each page, and what a plain filter of all rows gives. */
  async pages(parameters: Readonly<Record<string, Values>>): Promise<Compared> {
    const { data: rows } = await this.read({ limit: '100' });
    const compared: Compared = { found: [], expected: [] };
    for (const [query, filter] of combinations(parameters)) {
      const matching = rows.filter(filter);
      const total = matching.length;
      for (const limit of [3, 8])
        for (let page = 1; page <= total / limit + 1; page++) {
          const meta = { total, page, limit, has_next: page * limit < total };
          const data = matching.slice((page - 1) * limit, page * limit);
          compared.expected.push({ query, data, meta });
          const found = await this.read({ ...query, limit: `${limit}`, page: `${page}` });
          compared.found.push({ query, ...found });
        }
    }
    return compared;
  }

  /** What one finds by following the cursor, and what a plain filter of all rows gives. */
  async feeds(parameters: Readonly<Record<string, Values>>): Promise<Compared> {
    const { data: rows } = await this.read({ limit: '100' });
    const compared: Compared = { found: [], expected: [] };
    for (const [query, filter] of combinations(parameters))
      for (const limit of [1, 4]) {
        const found: Row[] = [];
        for (let cursor = ''; ;) {
          const page = await this.read({ ...query, limit: `${limit}`, cursor });
          found.push(...page.data);
          if (!page.has_next || page.data.length !== limit) break;
          cursor = page.next_cursor;
        }
        compared.found.push({ query, data: found });
        compared.expected.push({ query, data: rows.filter(filter) });
      }
    return compared;
  }
}

/** Each combination of the values of parameters. */
function combinations(parameters: Readonly<Record<string, Values>>): [Record<string, string>, Filter][] {
  return Object.entries(parameters).reduce<[Record<string, string>, Filter][]>(
    (found, [name, values]) =>
      found.flatMap(([query, filter]) =>
        values.map(([value, next]): [Record<string, string>, Filter] => [
          { ...query, [name]: value },
          (row) => filter(row) && next(row),
        ]),
      ),
    [[{}, ALL]],
  );
}
