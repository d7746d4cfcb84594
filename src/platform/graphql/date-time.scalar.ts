import { Injectable, type OnModuleInit } from '@nestjs/common';
import { DiscoveryService, Reflector } from '@nestjs/core';
import { type CustomScalar, Scalar, SCALAR_TYPE_METADATA } from '@nestjs/graphql';
import { Kind, type ValueNode } from 'graphql';
import { parseTime } from '../http/time.js';

/** As views have it, and `Date.toISOString` for the years 0 to 9999. */
const IN_UTC = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{3}Z$/;

/**
 * The scalar of `@Field(() => Date)`. Unlike Nest's own, it also takes the text of views, which is as REST sends it, and
 * rejects an argument that is not a time (decision 21).
 */
@Injectable()
@Scalar('DateTime', () => Date)
export class DateTimeScalar implements CustomScalar<string, Date>, OnModuleInit {
  readonly description = 'A time in UTC, RFC 3339 with milliseconds, such as 2019-12-03T09:54:33.000Z.';

  constructor(
    private readonly discovery: DiscoveryService,
    private readonly reflector: Reflector,
  ) {}

  /** @throws Error if another class is the scalar of `Date`: the fields of views would get it, whose text it does not take */
  onModuleInit(): void {
    for (const { metatype } of this.discovery.getProviders()) {
      if (typeof metatype !== 'function' || metatype === DateTimeScalar) continue;
      const type = this.reflector.get<(() => unknown) | undefined>(SCALAR_TYPE_METADATA, metatype);
      if (type?.() !== Date) continue;
      const { name } = metatype;
      throw new Error(
        `${name} must not be the scalar of Date, which is DateTimeScalar: leave out the type in its @Scalar(), and use @Field(() => ${name})`,
      );
    }
  }

  serialize(value: unknown): string {
    const text = value instanceof Date ? value.toISOString() : value;
    if (typeof text === 'string' && IN_UTC.test(text)) return text;
    throw new TypeError('A DateTime must be a Date, or text such as 2019-12-03T09:54:33.000Z');
  }

  parseValue(value: unknown): Date {
    const time = typeof value === 'string' ? parseTime(value) : undefined;
    if (time) return time;
    throw new TypeError('A DateTime must be text as in RFC 3339, such as "2019-12-03T09:54:33Z"');
  }

  parseLiteral(node: ValueNode): Date {
    return this.parseValue(node.kind === Kind.STRING ? node.value : undefined);
  }
}
