import { Injectable, type OnModuleInit, type Type } from '@nestjs/common';
import { DiscoveryService, MetadataScanner, Reflector } from '@nestjs/core';
import { RESOLVER_NAME_METADATA, RESOLVER_TYPE_METADATA } from '@nestjs/graphql';

const OPERATIONS = new Set(['Query', 'Mutation', 'Subscription']);

/** Stops the start if two resolvers have an operation of the same name: the last one would replace the other. */
@Injectable()
export class OperationNames implements OnModuleInit {
  constructor(
    private readonly discovery: DiscoveryService,
    private readonly reflector: Reflector,
  ) {}

  onModuleInit(): void {
    const owners = new Map<string, string>();
    // A module may provide a resolver of another one, too.
    const resolvers = new Set(this.discovery.getProviders().map(({ metatype }) => metatype as Type | null));
    for (const resolver of resolvers) {
      for (const operation of this.operationsOf(resolver?.prototype as object | undefined)) {
        const owner = owners.get(operation);
        if (owner !== undefined)
          throw new Error(
            `The GraphQL operation ${operation} is defined twice, by ${owner} and ${resolver!.name}; give one another name`,
          );
        owners.set(operation, resolver!.name);
      }
    }
  }

  /** Such as `Query.posts`. */
  private operationsOf(prototype: object | undefined): string[] {
    if (!prototype) return [];
    return new MetadataScanner().getAllMethodNames(prototype).flatMap((method) => {
      const handler = (prototype as Record<string, Function>)[method]!;
      const type = this.reflector.get<string | undefined>(RESOLVER_TYPE_METADATA, handler);
      if (type === undefined || !OPERATIONS.has(type)) return [];
      return `${type}.${this.reflector.get<string | undefined>(RESOLVER_NAME_METADATA, handler) ?? method}`;
    });
  }
}
