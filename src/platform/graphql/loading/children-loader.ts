import { RequestLoader } from './request-loader.js';

interface Wanted<Page> {
  readonly parentId: number;
  readonly page: Page;
}

const pageKey = ({ page }: Wanted<unknown>): string => JSON.stringify(page);

/**
 * Loads a page of children for many parents at once, for a list field of GraphQL: one statement for each
 * requested page, however many parents there are. A page is a plain object, such as a `KeysetRequest` or a `Range`.
 */
export class ChildrenLoader<Child, Page extends object> {
  private readonly loader = new RequestLoader(
    (wanted: readonly Wanted<Page>[]) => this.loadBatch(wanted),
    (key) => `${key.parentId} ${pageKey(key)}`,
  );

  /** @param loadChildren loads this page of the children of each of the parents */
  constructor(
    private readonly loadChildren: (parentIds: readonly number[], page: Page) => Promise<Child[]>,
    private readonly parentOf: (child: Child) => number,
  ) {}

  load(context: object, parentId: number, page: Page): Promise<Child[]> {
    return this.loader.load(context, { parentId, page });
  }

  private async loadBatch(wanted: readonly Wanted<Page>[]): Promise<Child[][]> {
    const found = new Map<Wanted<Page>, Child[]>();
    for (const keys of Object.values(Object.groupBy(wanted, pageKey))) {
      const children = await this.loadChildren(
        keys!.map(({ parentId }) => parentId),
        keys![0]!.page,
      );
      const byParent = Object.groupBy(children, this.parentOf);
      for (const key of keys!) found.set(key, byParent[key.parentId] ?? []);
    }
    return wanted.map((key) => found.get(key)!);
  }
}
