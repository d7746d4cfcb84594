import type { INestApplication } from '@nestjs/common';
import { GraphQLSchemaHost } from '@nestjs/graphql';
import { lexicographicSortSchema, printSchema } from 'graphql';

/** The schema as text (SDL), in an order that does not depend on the order of modules. */
export function describeSchema(app: INestApplication): string {
  const { schema } = app.get(GraphQLSchemaHost, { strict: false });
  return `# Made from the code by \`npm run contracts\`.\n\n${printSchema(lexicographicSortSchema(schema))}\n`;
}
