import {
  type DocumentNode,
  type FragmentDefinitionNode,
  Kind,
  type SelectionNode,
  type SelectionSetNode,
} from 'graphql';
import type { GraphqlLimits } from '../../config/config.js';
import { tooComplex } from './too-complex.js';

/** What one selection set amounts to, with its fragments spread out. */
interface Measure {
  /** Levels of fields; what introspection nests is not counted. */
  depth: number;
  aliases: number;
  directives: number;
  /** The most often that one name is selected in one place. */
  repeated: number;
  /** How often each name is selected at this level. */
  readonly names: Map<string, number>;
}

/**
 * Refuses a document by its shape alone. It comes before validation, some rules of which compare each
 * field with each other. Every fragment is measured once, however often it is spread.
 *
 * @throws AppError `QUERY_TOO_COMPLEX`
 */
export function checkShape(document: DocumentNode, limits: GraphqlLimits): void {
  const measurer = new Measurer(document);
  for (const definition of document.definitions) {
    if (definition.kind !== Kind.OPERATION_DEFINITION) continue;
    const { directives = [], variableDefinitions = [], selectionSet } = definition;
    const { depth, aliases, directives: inside, repeated } = measurer.measure(selectionSet);
    const outside = [directives, ...variableDefinitions.map((variable) => variable.directives ?? [])].flat();
    tooComplex('levels of fields', depth, limits.depth);
    tooComplex('aliases', aliases, limits.aliases);
    tooComplex('directives', inside + outside.length, limits.directives);
    tooComplex('repetitions of one field', repeated, limits.repeatedFields);
  }
}

class Measurer {
  private readonly fragments: ReadonlyMap<string, FragmentDefinitionNode>;
  private readonly measured = new Map<string, Measure>();

  constructor({ definitions }: DocumentNode) {
    const fragments = definitions.filter((definition) => definition.kind === Kind.FRAGMENT_DEFINITION);
    this.fragments = new Map(fragments.map((fragment) => [fragment.name.value, fragment]));
  }

  measure({ selections }: SelectionSetNode): Measure {
    const total = nothing();
    for (const selection of selections) {
      total.directives += selection.directives?.length ?? 0;
      if (selection.kind === Kind.FIELD) this.addField(total, selection);
      else this.merge(total, this.fragment(selection));
    }
    for (const count of total.names.values()) total.repeated = Math.max(total.repeated, count);
    return total;
  }

  private addField(total: Measure, field: SelectionNode & { kind: Kind.FIELD }): void {
    const name = (field.alias ?? field.name).value;
    total.names.set(name, (total.names.get(name) ?? 0) + 1);
    if (field.alias) total.aliases++;
    const isIntrospection = field.name.value.startsWith('__');
    if (!field.selectionSet) {
      if (!isIntrospection) total.depth = Math.max(total.depth, 1);
      return;
    }
    const inside = this.measure(field.selectionSet);
    if (!isIntrospection) total.depth = Math.max(total.depth, inside.depth + 1);
    total.aliases += inside.aliases;
    total.directives += inside.directives;
    total.repeated = Math.max(total.repeated, inside.repeated);
  }

  private fragment(spread: Exclude<SelectionNode, { kind: Kind.FIELD }>): Measure {
    if (spread.kind === Kind.INLINE_FRAGMENT) return this.measure(spread.selectionSet);
    const name = spread.name.value;
    const known = this.measured.get(name);
    if (known) return known;
    // Stands for itself while it is being measured: validation refuses fragments that contain themselves.
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
    total.repeated = Math.max(total.repeated, repeated);
    for (const [name, count] of names) total.names.set(name, (total.names.get(name) ?? 0) + count);
  }
}

const nothing = (): Measure => ({ depth: 0, aliases: 0, directives: 0, repeated: 0, names: new Map() });
