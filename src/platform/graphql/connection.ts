import type { Type } from '@nestjs/common';
import { ArgsType, Extensions, Field, Int, ObjectType, registerEnumType } from '@nestjs/graphql';
import { decodePosition, encodePosition, type Keyset, type KeysetRequest } from '../http/pages/keyset.js';
import { PAGES } from '../http/pages/page-request.js';

/** The arguments of a connection, for `@Args()`. A class with more arguments extends it. */
@ArgsType()
export class ConnectionArgs {
  @Field(() => Int, {
    nullable: true,
    defaultValue: PAGES.limit,
    description: `The length of the page; outside of 1 to ${PAGES.maxLimit} it is ${PAGES.limit}.`,
  })
  first?: number | null;

  @Field(() => String, {
    nullable: true,
    description: 'The cursor that the page follows, such as `endCursor`.',
  })
  after?: string | null;
}

@ObjectType({ description: 'Where a page is in its list (Relay cursor connections).' })
class PageInfo {
  @Field({ description: 'Whether there are more items after the page.' })
  hasNextPage!: boolean;

  @Field({ description: 'Whether the page was requested with `after`.' })
  hasPreviousPage!: boolean;

  @Field(() => String, { nullable: true, description: 'The cursor of the first item; null without items.' })
  startCursor!: string | null;

  @Field(() => String, {
    nullable: true,
    description: 'The cursor of the last item: the next page follows it. Null without items.',
  })
  endCursor!: string | null;
}

/** One page of a list, in the form of Relay's cursor connections. */
export interface ConnectionOf<Node> {
  readonly edges: readonly { readonly cursor: string; readonly node: Node }[];
  readonly nodes: readonly Node[];
  readonly pageInfo: PageInfo;
  /** Rows are counted only when the property is read: if the field is selected. */
  readonly totalCount: Promise<number>;
}

/** The direction of an order, for the arguments of a connection. @public for modules that teams add */
export type OrderDirection = 'ASC' | 'DESC';

/** @public for modules that teams add */
export const OrderDirectionEnum = { ASC: 'ASC', DESC: 'DESC' } as const;
registerEnumType(OrderDirectionEnum, {
  name: 'OrderDirection',
  description: 'The direction of an order.',
  valuesMap: {
    ASC: { description: 'The smallest first; times: the oldest first.' },
    DESC: { description: 'The largest first; times: the newest first.' },
  },
});

/** Counting a list may read all of it, which the number of objects in the response does not show. */
const TOTAL_COST = 500;

/** A search may read all rows. */
const SEARCH_COST = 2000;

/** An extension of a field: its cost counts once for each selection, however many objects have it. */
export const COSTS_ONCE = 'costsOnce';

/** An edge is an object in addition to its node. Their number is that of the connection, see {@link connectionCost}. */
const ofEachItem = ({ childComplexity }: { childComplexity: number }): number => 1 + childComplexity;

/**
 * The type of a connection (https://relay.dev/graphql/connections.htm) to nodes of a view, as a base class:
 * `@ObjectType() class NoteConnection extends Connection(NoteView) {}`. Its query has the cost {@link connectionCost}.
 */
export function Connection<Node>(view: Type<Node>): Type<ConnectionOf<Node>> {
  const name = view.name.replace(/View$/, '');

  @ObjectType(`${name}Edge`, { description: 'One item of a page, with its position.' })
  class Edge {
    @Field({ description: 'The position of the item in the list, for `after`.' })
    cursor!: string;

    @Field(() => view, { description: 'The item.' })
    node!: Node;
  }

  @ObjectType({ isAbstract: true })
  abstract class ConnectionType implements ConnectionOf<Node> {
    @Field(() => [Edge], {
      description: 'The items of the page, with their cursors.',
      complexity: ofEachItem,
    })
    edges!: readonly Edge[];

    @Field(() => [view], { description: 'The items of the page.', complexity: ofEachItem })
    nodes!: readonly Node[];

    @Field(() => PageInfo, { description: 'Where the page is in the list.', complexity: 0 })
    pageInfo!: PageInfo;

    @Field(() => Int, { description: 'The number of items in the whole list.', complexity: TOTAL_COST })
    @Extensions({ [COSTS_ONCE]: true })
    totalCount!: Promise<number>;
  }
  return ConnectionType as Type<ConnectionOf<Node>>;
}

/**
 * The cost of a connection (`complexity`): itself, and the longest page that `first` allows with what each item has.
 *
 * @public
 */
export const connectionCost = ({
  args,
  childComplexity,
}: {
  args: ConnectionArgs;
  childComplexity: number;
}): number => 1 + lengthOf(args) * childComplexity;

/** Like {@link connectionCost}, for a connection with a search, the argument `q`. */
export const searchableCost = (of: {
  args: ConnectionArgs & { q?: string | null };
  childComplexity: number;
}): number => connectionCost(of) + (of.args.q ? SEARCH_COST : 0);

/** Where the items of a connection come from. */
interface Source<Row, Node> {
  /**
   * Reads the rows after a position, in the order of the keyset.
   *
   * @param count the `count` of this list, for a list whose best way to read depends on its length
   */
  readonly rows: (page: KeysetRequest, count: () => Promise<number>) => Promise<readonly Row[]>;
  /** Counts the rows of the whole list; called at most once. */
  readonly count: () => Promise<number>;
  readonly toNode: (row: Row) => Node;
}

/** Reads one page. @throws AppError `INVALID_CURSOR` */
export async function readConnection<Row, Node>(
  args: ConnectionArgs,
  keyset: Keyset<Row>,
  { rows, count, toNode }: Source<Row, Node>,
): Promise<ConnectionOf<Node>> {
  const limit = lengthOf(args);
  // Empty text counts as absent.
  const after = args.after ? decodePosition(keyset, args.after) : undefined;
  let counted: Promise<number> | undefined;
  const countOnce = () => (counted ??= count());
  const found = await rows({ after, limit: limit + 1 }, countOnce);
  const page = found.slice(0, limit);
  const nodes = page.map(toNode);
  const cursorOf = (row: Row | undefined) => (row === undefined ? null : encodePosition(keyset, row));
  // A plain object, because Nest's `ClassSerializerInterceptor` drops the getters of a class. They compute what is selected.
  return {
    nodes,
    get edges() {
      return page.map((row, index) => ({ cursor: encodePosition(keyset, row), node: nodes[index]! }));
    },
    get pageInfo() {
      return {
        hasNextPage: found.length > limit,
        hasPreviousPage: after !== undefined,
        get startCursor() {
          return cursorOf(page[0]);
        },
        get endCursor() {
          return cursorOf(page.at(-1));
        },
      };
    },
    get totalCount() {
      // An error as a result is the error of the field. A rejection would end the process if an interceptor reads the
      // property and nobody has selected it.
      return countOnce().catch((error: unknown) => error as never);
    },
  };
}

function lengthOf({ first }: ConnectionArgs): number {
  const isLength = Number.isInteger(first) && first! >= 1 && first! <= PAGES.maxLimit;
  return isLength ? first! : PAGES.limit;
}
