import type { Type } from '@nestjs/common';
import { getMetadataStorage, ValidationTypes } from 'class-validator';

/** Whether an input surely keeps all rules of its class; if not, `validateSync` has the last word. */
type Checker = (input: object) => boolean;

interface Field {
  readonly name: string;
  /** Whether the rules apply, such as `IsOptional`. */
  readonly conditions: readonly ((input: object, value: unknown) => boolean)[];
  readonly rules: readonly ((input: object, value: unknown) => boolean)[];
}

const checkers = new Map<Type, Checker>();

/**
 * The rules of a class, looked up once: class-validator gathers them anew for every input, which takes
 * longer than to apply them. A class with rules of a kind that is not known here is left to it.
 */
export function checkerOf(type: Type): Checker {
  let checker = checkers.get(type);
  if (!checker) checkers.set(type, (checker = compile(type)));
  return checker;
}

function compile(type: Type): Checker {
  const storage = getMetadataStorage();
  const metadata = storage.getTargetValidationMetadatas(type, '', false, false);
  const isKnown = metadata.every(
    ({ type: kind, each, groups, validateIf }) =>
      (kind === ValidationTypes.CUSTOM_VALIDATION || kind === ValidationTypes.CONDITIONAL_VALIDATION) &&
      !each &&
      !validateIf &&
      groups.length === 0,
  );
  if (!isKnown || metadata.length === 0) return () => false;

  const fields = Object.entries(storage.groupByPropertyName(metadata)).map(([name, list]): Field => ({
    name,
    conditions: list
      .filter(({ type: kind }) => kind === ValidationTypes.CONDITIONAL_VALIDATION)
      .map(({ constraints }) => constraints[0] as Field['conditions'][number]),
    rules: list
      .filter(({ type: kind }) => kind === ValidationTypes.CUSTOM_VALIDATION)
      .flatMap((rule) =>
        storage.getTargetValidatorConstraints(rule.constraintCls).map(
          ({ instance }): Field['rules'][number] =>
            (object, value) =>
              instance.validate(value, {
                value,
                object,
                constraints: rule.constraints,
                targetName: type.name,
                property: name,
              }) === true,
        ),
      ),
  }));
  return (input) =>
    fields.every(({ name, conditions, rules }) => {
      const value = (input as Record<string, unknown>)[name];
      return (
        !conditions.every((applies) => applies(input, value)) || rules.every((keeps) => keeps(input, value))
      );
    });
}
