import type { Type } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { startApi, type TestApi } from '../../support/api.js';
import type { StoreName } from '../../support/stores.js';

/** Starts the real application with a module of the documentation, and creates tables for its entities. */
export async function startWithTables(store: StoreName, module: Type): Promise<TestApi> {
  const api = await startApi(store, {}, [module]);
  await api.app.get(DataSource).synchronize();
  return api;
}
