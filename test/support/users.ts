import { created, type TestApi } from './api.js';

export interface User {
  readonly id: string;
  readonly name: string;
  readonly email: string;
  readonly created_at: string;
  readonly updated_at: string;
}

/** The users of an application. */
export const usersOf = (api: TestApi) => ({
  create: async (fields: Partial<User> = {}): Promise<User> =>
    created(await api.post('/v2/users', { name: 'A name', ...fields })),
  get: async (id: string | number): Promise<User> => (await api.get(`/v2/users/${id}`)).body.data,
});
