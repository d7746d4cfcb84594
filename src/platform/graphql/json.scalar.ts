import { Scalar, type CustomScalar } from '@nestjs/graphql';
import { GraphQLError, Kind, type ValueNode } from 'graphql';

type Variables = Readonly<Record<string, unknown>> | null | undefined;

/** Any JSON value, of a response or an argument. */
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
    switch (node.kind) {
      case Kind.NULL:
        return null;
      case Kind.STRING:
      case Kind.BOOLEAN:
        return node.value;
      case Kind.INT:
      case Kind.FLOAT:
        return Number(node.value);
      case Kind.LIST:
        return node.values.map((value) => this.parseLiteral(value, variables));
      case Kind.OBJECT:
        return Object.fromEntries(
          node.fields.map(({ name, value }) => {
            // As in the JSON of a body.
            if (name.value === '__proto__') throw new GraphQLError('JSON must not name a member "__proto__"');
            return [name.value, this.parseLiteral(value, variables)];
          }),
        );
      case Kind.VARIABLE:
        return variables?.[node.name.value];
      default:
        throw new GraphQLError(`${node.value} is not JSON; texts are in double quotes`);
    }
  }
}
