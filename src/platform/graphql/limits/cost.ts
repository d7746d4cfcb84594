import {
  type DocumentNode,
  type FieldNode,
  type FragmentDefinitionNode,
  getNamedType,
  getNullableType,
  type GraphQLField,
  type GraphQLSchema,
  isCompositeType,
  isInterfaceType,
  isListType,
  isObjectType,
  Kind,
  type OperationDefinitionNode,
  type GraphQLNamedType,
  type SelectionSetNode,
  valueFromASTUntyped,
} from 'graphql';
import { COSTS_ONCE } from '../connection.js';

type Variables = Readonly<Record<string, unknown>>;

/** Computes how many objects an operation may return, from its variables. */
export type Cost = (variables: Variables) => number;

/** The assumed length of a list whose field does not declare it (`complexity`). */
const LIST_LENGTH = 10;

type Estimate = number | ((of: { args: Record<string, unknown>; childComplexity: number }) => number);

/** One computation: a repeated fragment is computed once; otherwise the time could double with each level. */
interface Computation {
  readonly variables: Variables;
  readonly fragments: Map<string, number>;
}

type Part = (computation: Computation) => number;

const NOTHING: Part = () => 0;

/** The cost of a selection set. */
interface Selected {
  /** For each object that has it. */
  readonly each: Part;
  /** However many objects there are: fields with the extension {@link COSTS_ONCE}. */
  readonly once: Part;
}

const compiledCosts = new WeakMap<OperationDefinitionNode, Cost>();

/**
 * Computes the cost of a valid operation: each object counts one, the lengths of lists multiply the cost of
 * their items, and values and introspection are free. A field declares the maximum length of its list, or the
 * number of objects that it counts as, with `complexity`. The result is compiled once for each operation, because every
 * request needs it.
 */
export function costOf(
  operation: OperationDefinitionNode,
  document: DocumentNode,
  schema: GraphQLSchema,
): Cost {
  let cost = compiledCosts.get(operation);
  if (!cost) compiledCosts.set(operation, (cost = compile(operation, document, schema)));
  return cost;
}

function compile(operation: OperationDefinitionNode, document: DocumentNode, schema: GraphQLSchema): Cost {
  const cost = new CostCompiler(operation, document, schema).compile(operation);
  if (operation.variableDefinitions?.length) return cost;
  const constant = cost({});
  return () => constant;
}

/** Has no reference to the operation: the result is its value in a `WeakMap`, and would keep it in memory until a full collection. */
class CostCompiler {
  private readonly fragments: ReadonlyMap<string, FragmentDefinitionNode>;
  private readonly compiled = new Map<string, Selected>();
  private readonly defaults: Variables;

  constructor(
    { variableDefinitions = [] }: OperationDefinitionNode,
    { definitions }: DocumentNode,
    private readonly schema: GraphQLSchema,
  ) {
    const fragments = definitions.filter((definition) => definition.kind === Kind.FRAGMENT_DEFINITION);
    this.fragments = new Map(fragments.map((fragment) => [fragment.name.value, fragment]));
    this.defaults = Object.fromEntries(
      variableDefinitions
        .filter(({ defaultValue }) => defaultValue)
        .map(({ variable, defaultValue }) => [variable.name.value, valueFromASTUntyped(defaultValue!)]),
    );
  }

  compile({ selectionSet, operation }: OperationDefinitionNode): Cost {
    const { each, once } = this.ofSelections(selectionSet, this.schema.getRootType(operation) ?? undefined);
    const cost = sumOf([each, once]);
    return (variables) => cost({ variables: { ...this.defaults, ...variables }, fragments: new Map() });
  }

  private ofSelections({ selections }: SelectionSetNode, parent: GraphQLNamedType | undefined): Selected {
    const selected = selections.map((selection) => {
      if (selection.kind === Kind.FIELD) return this.ofField(selection, parent);
      if (selection.kind === Kind.FRAGMENT_SPREAD) return this.ofFragment(selection.name.value);
      const { typeCondition, selectionSet } = selection;
      return this.ofSelections(selectionSet, typeCondition ? this.type(typeCondition.name.value) : parent);
    });
    return { each: sumOf(selected.map(({ each }) => each)), once: sumOf(selected.map(({ once }) => once)) };
  }

  private ofFragment(name: string): Selected {
    const compiled = this.compiled.get(name);
    if (compiled) return compiled;
    const { selectionSet, typeCondition } = this.fragments.get(name)!;
    const { each, once } = this.ofSelections(selectionSet, this.type(typeCondition.name.value));
    const selected = { each: computedOnce(name, each), once: computedOnce(`${name} once`, once) };
    this.compiled.set(name, selected);
    return selected;
  }

  private ofField(node: FieldNode, parent: GraphQLNamedType | undefined): Selected {
    const field =
      isObjectType(parent) || isInterfaceType(parent) ? parent.getFields()[node.name.value] : undefined;
    if (!field) return FREE;
    const type = getNamedType(field.type);
    const selected = node.selectionSet ? this.ofSelections(node.selectionSet, type) : FREE;
    const cost = costOfField(field, node, selected.each);
    return field.extensions[COSTS_ONCE] === true
      ? { each: NOTHING, once: sumOf([cost, selected.once]) }
      : { each: cost, once: selected.once };
  }

  private type(name: string): GraphQLNamedType | undefined {
    return this.schema.getType(name);
  }
}

/** @param child the cost of what an object of the field has */
function costOfField(field: GraphQLField<unknown, unknown>, node: FieldNode, child: Part): Part {
  const estimate = field.extensions['complexity'] as Estimate | undefined;
  if (typeof estimate === 'number') return (computation) => estimate + child(computation);
  if (estimate) {
    const args = argumentsOf(field, node);
    return (computation) =>
      estimate({ args: args(computation.variables), childComplexity: child(computation) });
  }
  if (!isCompositeType(getNamedType(field.type))) return NOTHING;
  const length = isListType(getNullableType(field.type)) ? LIST_LENGTH : 1;
  return (computation) => length * (1 + child(computation));
}

const FREE: Selected = { each: NOTHING, once: NOTHING };

function sumOf(all: readonly Part[]): Part {
  const parts = all.filter((part) => part !== NOTHING);
  if (parts.length <= 1) return parts[0] ?? NOTHING;
  return (computation) => parts.reduce((sum, part) => sum + part(computation), 0);
}

/** The cost of a fragment, however often an operation spreads it. */
function computedOnce(name: string, part: Part): Part {
  if (part === NOTHING) return NOTHING;
  return (computation) => {
    let sum = computation.fragments.get(name);
    if (sum === undefined) computation.fragments.set(name, (sum = part(computation)));
    return sum;
  };
}

/** The arguments with their defaults, without the checks of the execution. */
function argumentsOf({ args }: GraphQLField<unknown, unknown>, node: FieldNode) {
  const given = new Map((node.arguments ?? []).map(({ name, value }) => [name.value, value]));
  return (variables: Variables): Record<string, unknown> =>
    Object.fromEntries(
      args.map(({ name, defaultValue }) => {
        const value = given.get(name);
        const sent = value && valueFromASTUntyped(value, variables);
        return [name, sent === undefined ? defaultValue : sent];
      }),
    );
}
