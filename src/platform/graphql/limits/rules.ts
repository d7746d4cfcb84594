import {
  type DocumentNode,
  type FieldNode,
  type FragmentDefinitionNode,
  GraphQLError,
  Kind,
  type SelectionNode,
  type SelectionSetNode,
  type ValidationRule,
} from 'graphql';
import type { GraphqlLimits } from '../../config/config.js';
import { tooComplex, tooNested } from './too-complex.js';

/** Rejects introspection. Apollo's own rule names an option of its own, which is no setting of this service. */
export const noIntrospectionRule: ValidationRule = (context) => ({
  Field: (node) => {
    const { value: name } = node.name;
    if (name !== '__schema' && name !== '__type') return;
    const message = `Introspection is off, but the document contains ${name}; the setting GRAPHQL_INTROSPECTION=on turns it on`;
    context.reportError(new GraphQLError(message, { nodes: [node] }));
  },
});

/** The measures of a selection set, including its fragments. */
interface Measure {
  /** Levels of fields; introspection fields are not counted. */
  depth: number;
  aliases: number;
  directives: number;
  /** The largest number of selections of one name in one place. */
  repeated: number;
  /** The number of selections of each name at this level. */
  readonly names: Map<string, number>;
}

/**
 * Limits the nesting of a document, and the depth, aliases, directives and repeated fields of each operation. It runs at the document node,
 * before the specified rules reach a selection: some of them compare each field with all others.
 */
export const shapeRule =
  (limits: GraphqlLimits): ValidationRule =>
  (context) => ({
    Document: (document) => {
      const error = tooNested(document) ?? checkShape(document, limits);
      if (!error) return undefined;
      context.reportError(error);
      // Removes the document from this visit, so that no other rule spends time on it.
      return null;
    },
  });

/** Every fragment is measured once. */
function checkShape(document: DocumentNode, limits: GraphqlLimits): GraphQLError | undefined {
  const measurer = new Measurer(document, limits);
  for (const definition of document.definitions) {
    if (definition.kind !== Kind.OPERATION_DEFINITION) continue;
    const { directives = [], variableDefinitions = [], selectionSet } = definition;
    const measure = measurer.measure(selectionSet);
    const outside = [directives, ...variableDefinitions.map((variable) => variable.directives ?? [])].flat();
    measure.directives += outside.length;
    const error = excessOf(measure, limits);
    if (error) return error;
  }
  return undefined;
}

const excessOf = (measure: Measure, limits: GraphqlLimits): GraphQLError | undefined =>
  tooComplex('levels of fields', measure.depth, limits.depth) ??
  tooComplex('aliases', measure.aliases, limits.aliases) ??
  tooComplex('directives', measure.directives, limits.directives) ??
  tooComplex('repetitions of one field', measure.repeated, limits.repeatedFields);

class Measurer {
  private readonly fragments: ReadonlyMap<string, FragmentDefinitionNode>;
  private readonly measured = new Map<string, Measure>();

  constructor(
    { definitions }: DocumentNode,
    private readonly limits: GraphqlLimits,
  ) {
    const fragments = definitions.filter((definition) => definition.kind === Kind.FRAGMENT_DEFINITION);
    this.fragments = new Map(fragments.map((fragment) => [fragment.name.value, fragment]));
  }

  measure({ selections }: SelectionSetNode): Measure {
    const total = nothing();
    for (const selection of selections) {
      total.directives += selection.directives?.length ?? 0;
      this.merge(total, selection.kind === Kind.FIELD ? this.field(selection) : this.fragment(selection));
    }
    return total;
  }

  private field({ name, alias, selectionSet }: FieldNode): Measure {
    const { depth, aliases, directives, repeated } = selectionSet ? this.measure(selectionSet) : nothing();
    const isIntrospection = name.value.startsWith('__');
    return {
      depth: isIntrospection ? 0 : depth + 1,
      aliases: aliases + (alias ? 1 : 0),
      directives,
      repeated,
      names: new Map([[(alias ?? name).value, 1]]),
    };
  }

  private fragment(spread: Exclude<SelectionNode, { kind: Kind.FIELD }>): Measure {
    if (spread.kind === Kind.INLINE_FRAGMENT) return this.measure(spread.selectionSet);
    const name = spread.name.value;
    const measured = this.measured.get(name);
    if (measured) return measured;
    // A placeholder while a fragment is measured: validation reports fragments that contain themselves.
    this.measured.set(name, nothing());
    const fragment = this.fragments.get(name);
    const measure = fragment ? this.measure(fragment.selectionSet) : nothing();
    measure.directives += fragment?.directives?.length ?? 0;
    this.measured.set(name, measure);
    return measure;
  }

  private merge(total: Measure, { depth, aliases, directives, repeated, names }: Measure): void {
    total.depth = Math.max(total.depth, depth);
    total.aliases += aliases;
    total.directives += directives;
    // Beyond the limit, only fields are counted: a fragment that is used a thousand times would take long.
    const isExceeded = names.size > 1 && total.repeated > this.limits.repeatedFields;
    total.repeated = Math.max(total.repeated, repeated);
    if (isExceeded) return;
    for (const [name, count] of names) {
      const sum = (total.names.get(name) ?? 0) + count;
      total.names.set(name, sum);
      total.repeated = Math.max(total.repeated, sum);
    }
  }
}

const nothing = (): Measure => ({ depth: 0, aliases: 0, directives: 0, repeated: 0, names: new Map() });
