import type { ModulesContainer } from '@nestjs/core';
import { getRepositoryToken } from '@nestjs/typeorm';
import type { EntitySchema } from 'typeorm';

export type Entities = (Function | EntitySchema)[];

/** Nest keeps the entities of `forFeature` for each process; an application has those of its own modules. */
export function ownEntities(entities: Entities, modules: ModulesContainer): Entities {
  const tokens = new Set([...modules.values()].flatMap(({ providers }) => [...providers.keys()]));
  return entities.filter((entity) => tokens.has(getRepositoryToken(entity)));
}
