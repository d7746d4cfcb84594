import {
  type DocumentNode,
  type FieldNode,
  type FragmentDefinitionNode,
  getNamedType,
  getNullableType,
  type GraphQLField,
  type GraphQLNamedType,
  type GraphQLSchema,
  type InlineFragmentNode,
  isCompositeType,
  isInterfaceType,
  isListType,
  isObjectType,
  Kind,
  type OperationDefinitionNode,
  type SelectionSetNode,
  valueFromASTUntyped,
} from 'graphql';
import { COSTS_ONCE } from '../connection.js';

type Variables = Readonly<Record<string, unknown>>;

/** The assumed length of a list whose field does not declare it (`complexity`). */
const LIST_LENGTH = 10;

type Estimate = number | ((of: { args: Variables; childComplexity: number }) => number);

/** The cost of a selection set. */
interface Cost {
  /** For each object that has it. */
  readonly each: number;
  /** However many objects there are: fields with the extension {@link COSTS_ONCE}. */
  readonly once: number;
}

const FREE: Cost = { each: 0, once: 0 };

/** Of operations without variables: every request needs the cost of its operation. */
const constantCosts = new WeakMap<OperationDefinitionNode, number>();

/**
 * Computes how many objects a valid operation may return: each object counts one, the lengths of lists multiply the cost
 * of their items, and values and introspection are free. A field declares the maximum length of its list, or the number
 * of objects that it counts as, with `complexity`.
 */
export function costOf(
  operation: OperationDefinitionNode,
  document: DocumentNode,
  schema: GraphQLSchema,
  variables: Variables,
): number {
  const constant = constantCosts.get(operation);
  if (constant !== undefined) return constant;
  const { selectionSet, variableDefinitions = [] } = operation;
  const defaults = variableDefinitions.flatMap(({ variable, defaultValue }) =>
    defaultValue ? [[variable.name.value, valueFromASTUntyped(defaultValue)] as const] : [],
  );
  const meter = new CostMeter(document, schema, { ...Object.fromEntries(defaults), ...variables });
  const { each, once } = meter.ofSelections(
    selectionSet,
    schema.getRootType(operation.operation) ?? undefined,
  );
  if (variableDefinitions.length === 0) constantCosts.set(operation, each + once);
  return each + once;
}

class CostMeter {
  private readonly definitions: ReadonlyMap<string, FragmentDefinitionNode>;
  /** A fragment is computed once: otherwise the time could double with each level. */
  private readonly fragments = new Map<string, Cost>();

  constructor(
    { definitions }: DocumentNode,
    private readonly schema: GraphQLSchema,
    private readonly variables: Variables,
  ) {
    const fragments = definitions.filter((definition) => definition.kind === Kind.FRAGMENT_DEFINITION);
    this.definitions = new Map(fragments.map((fragment) => [fragment.name.value, fragment]));
  }

  ofSelections({ selections }: SelectionSetNode, parent: GraphQLNamedType | undefined): Cost {
    let [each, once] = [0, 0];
    for (const selection of selections) {
      const cost =
        selection.kind === Kind.FIELD
          ? this.ofField(selection, parent)
          : selection.kind === Kind.FRAGMENT_SPREAD
            ? this.ofFragment(selection.name.value)
            : this.ofSelections(selection.selectionSet, this.typeOf(selection) ?? parent);
      each += cost.each;
      once += cost.once;
    }
    return { each, once };
  }

  private ofFragment(name: string): Cost {
    let cost = this.fragments.get(name);
    if (!cost) {
      const fragment = this.definitions.get(name)!;
      this.fragments.set(name, (cost = this.ofSelections(fragment.selectionSet, this.typeOf(fragment))));
    }
    return cost;
  }

  private ofField(node: FieldNode, parent: GraphQLNamedType | undefined): Cost {
    const hasFields = isObjectType(parent) || isInterfaceType(parent);
    const field = hasFields ? parent.getFields()[node.name.value] : undefined;
    if (!field) return FREE;
    const type = getNamedType(field.type);
    const inside = node.selectionSet ? this.ofSelections(node.selectionSet, type) : FREE;
    const cost = this.estimate(field, node, inside.each);
    return field.extensions[COSTS_ONCE] === true
      ? { each: 0, once: cost + inside.once }
      : { each: cost, once: inside.once };
  }

  /** @param childComplexity the cost of what an object of the field has */
  private estimate(field: GraphQLField<unknown, unknown>, node: FieldNode, childComplexity: number): number {
    const estimate = field.extensions['complexity'] as Estimate | undefined;
    if (typeof estimate === 'number') return estimate + childComplexity;
    if (estimate) return estimate({ args: this.argumentsOf(field, node), childComplexity });
    if (!isCompositeType(getNamedType(field.type))) return 0;
    const length = isListType(getNullableType(field.type)) ? LIST_LENGTH : 1;
    return length * (1 + childComplexity);
  }

  /** The arguments with their defaults, without the checks of the execution. */
  private argumentsOf({ args }: GraphQLField<unknown, unknown>, node: FieldNode): Variables {
    return Object.fromEntries(
      args.map(({ name, defaultValue }) => {
        const given = node.arguments?.find((argument) => argument.name.value === name);
        const value = given && valueFromASTUntyped(given.value, this.variables);
        return [name, value === undefined ? defaultValue : value];
      }),
    );
  }

  private typeOf({
    typeCondition,
  }: InlineFragmentNode | FragmentDefinitionNode): GraphQLNamedType | undefined {
    return typeCondition && this.schema.getType(typeCondition.name.value);
  }
}
