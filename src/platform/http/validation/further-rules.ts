import type { Type } from '@nestjs/common';
import type { FieldError } from '../errors/errors.js';

/** Rules of fields that depend on services, such as the configuration. */
export interface FurtherRules {
  /** @param input the fields that are valid by the rules of the class */
  faults(input: object): FieldError[] | Promise<FieldError[]>;
}

const rules = new WeakMap<Function, Type<FurtherRules>>();

/**
 * Checks an input by a provider as well. The error names all invalid fields at once, those of the class and those of
 * the provider.
 */
export const CheckedBy =
  (provider: Type<FurtherRules>): ClassDecorator =>
  (target) => {
    rules.set(target, provider);
  };

export const furtherRulesOf = (input: Function): Type<FurtherRules> | undefined => rules.get(input);
