import type { Range } from '../pagination/page-args.js';
import { RequestLoader } from './request-loader.js';

interface Wanted {
  readonly parentId: number;
  readonly range: Range;
}

const rangeKey = ({ range: { limit, offset } }: Wanted): string => `${limit}+${offset}`;

/**
 * Loads a page of children for many parents at once, for a list field of GraphQL: one statement for each
 * requested page, however many parents there are.
 */
export class ChildrenLoader<Child> {
  private readonly loader = new RequestLoader(
    (wanted: readonly Wanted[]) => this.loadBatch(wanted),
    (key) => `${key.parentId} ${rangeKey(key)}`,
  );

  /** @param loadChildren loads the children of all parents, at most `limit` of each after its first `offset` */
  constructor(
    private readonly loadChildren: (parentIds: readonly number[], range: Range) => Promise<Child[]>,
    private readonly parentOf: (child: Child) => number,
  ) {}

  load(context: object, parentId: number, range: Range): Promise<Child[]> {
    return this.loader.load(context, { parentId, range });
  }

  private async loadBatch(wanted: readonly Wanted[]): Promise<Child[][]> {
    const found = new Map<Wanted, Child[]>();
    for (const keys of Object.values(Object.groupBy(wanted, rangeKey))) {
      const children = await this.loadChildren(
        keys!.map(({ parentId }) => parentId),
        keys![0]!.range,
      );
      const byParent = Object.groupBy(children, this.parentOf);
      for (const key of keys!) found.set(key, byParent[key.parentId] ?? []);
    }
    return wanted.map((key) => found.get(key)!);
  }
}
