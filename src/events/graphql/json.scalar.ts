import { Scalar, type CustomScalar } from '@nestjs/graphql';

/** Any JSON value of a response. */
@Scalar('JSON')
export class JsonScalar implements CustomScalar<unknown, unknown> {
  readonly description = 'Any JSON value.';

  serialize(value: unknown): unknown {
    return value;
  }

  parseValue(value: unknown): unknown {
    return value;
  }

  parseLiteral(): never {
    throw new Error('JSON is not a type of arguments');
  }
}
