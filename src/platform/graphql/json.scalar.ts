import { Scalar, type CustomScalar } from '@nestjs/graphql';
import { GraphQLError, type ValueNode, valueFromASTUntyped, visit } from 'graphql';

type Variables = Readonly<Record<string, unknown>> | null | undefined;

@Scalar('JSON')
export class JsonScalar implements CustomScalar<unknown, unknown> {
  readonly description = 'Any JSON value.';

  /** A `JsonText` is written when the response is. */
  serialize(value: unknown): unknown {
    return value;
  }

  parseValue(value: unknown): unknown {
    return value;
  }

  /** @param variables absent during validation */
  parseLiteral(node: ValueNode, variables?: Variables): unknown {
    visit(node, {
      EnumValue: ({ value }) => {
        throw new GraphQLError(`${value} is not JSON; texts are in double quotes`);
      },
      // As in the JSON of a body.
      ObjectField: ({ name }) => {
        if (name.value === '__proto__') throw new GraphQLError('JSON must not name a member "__proto__"');
      },
    });
    return valueFromASTUntyped(node, variables);
  }
}
