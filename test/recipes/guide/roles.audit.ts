import type { Prepare } from '../../support/further-routes.js';
import { ROLES } from './roles/account-role.entity.js';

/** The tests of all routes call as an account with every role. */
export const prepare: Prepare = async (api, staff) => {
  const { id } = (await api.get('/auth/me/', staff)).body;
  const url = `/v1/accounts/${id}/roles`;
  await api.send({ method: 'PUT', url, headers: staff, body: { roles: ROLES } });
};
