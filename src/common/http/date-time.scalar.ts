import { type CustomScalar, Scalar } from '@nestjs/graphql';
import { isISO8601, isRFC3339 } from 'class-validator';
import { GraphQLError, Kind, type ValueNode } from 'graphql';

/** As views have it, and `Date.toISOString`. */
const IN_UTC = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{3}Z$/;

/**
 * The scalar of `@Field(() => Date)`. Unlike Nest's own, it also takes the text of views, which is as REST sends it, and
 * rejects an argument that is not a time.
 */
@Scalar('DateTime', () => Date)
export class DateTimeScalar implements CustomScalar<string, Date> {
  readonly description = 'A time in UTC, RFC 3339 with milliseconds, such as 2019-12-03T09:54:33.000Z.';

  serialize(value: unknown): string {
    if (typeof value === 'string' && IN_UTC.test(value)) return value;
    if (value instanceof Date) return value.toISOString();
    throw new TypeError('A DateTime must be a Date, or text such as 2019-12-03T09:54:33.000Z');
  }

  parseValue(value: unknown): Date {
    // The second one knows the lengths of months.
    if (isRFC3339(value) && isISO8601(value, { strict: true })) return new Date(value as string);
    throw new GraphQLError('A DateTime must be text as in RFC 3339, such as "2019-12-03T09:54:33Z"');
  }

  parseLiteral(node: ValueNode): Date {
    return this.parseValue(node.kind === Kind.STRING ? node.value : undefined);
  }
}
