import { expect, it } from '@jest/globals';
import { onEach } from './support/on-each.js';
import { usersOf } from './support/users.js';

onEach('events of users', {}, ({ api }) => {
  const types = 'user.created,user.updated,user.deleted';
  const all = async (): Promise<any[]> => (await api.get(`/v1/events?types=${types}&limit=100`)).body.data;

  it('are one for each change, over REST and GraphQL, as version 2 shows users', async () => {
    const user = await usersOf(api).create({ name: 'Ada' });
    const replaced = (await api.put(`/v2/users/${user.id}`, { name: 'Ada L.', email: 'ada@example.com' }))
      .body.data;
    await api.patch(`/v1/users/${user.id}`, { name: 'A. L.' });
    const patched = await usersOf(api).get(user.id);
    await api.graphql('mutation ($id: ID!) { updateUser(id: $id, input: { name: "G" }) { id } }', {
      id: user.id,
    });
    const last = await usersOf(api).get(user.id);
    await api.delete(`/v1/users/${user.id}`);
    const made = await api.graphql(
      'mutation { createUser(input: { name: "Grace", email: "g@example.com" }) { id } }',
    );
    const grace = await usersOf(api).get(made.body.data.createUser.id);

    expect((await all()).map(({ type, subject, data }) => [type, subject, data])).toEqual([
      ['user.created', `/v2/users/${user.id}`, user],
      ['user.updated', `/v2/users/${user.id}`, replaced],
      ['user.updated', `/v2/users/${user.id}`, patched],
      ['user.updated', `/v2/users/${user.id}`, last],
      ['user.deleted', `/v2/users/${user.id}`, { id: user.id }],
      ['user.created', `/v2/users/${grace.id}`, grace],
    ]);
  });

  it.each([
    ['a user that does not exist', 'NOT_FOUND', () => api.patch('/v1/users/999999', { name: 'x' })],
    ['the deletion of the author', 'CONFLICT', () => api.delete('/v1/users/1')],
    ['the deletion of a user that does not exist', 'NOT_FOUND', () => api.delete('/v1/users/999999')],
  ] as const)('are none for %s', async (_, code, send) => {
    await api.post('/v1/posts', { title: 'T', content: 'C' });
    const before = await all();
    expect(await send()).toBeError(code);
    expect(await all()).toEqual(before);
  });
});

onEach('the audit log of users', { settings: { WRITE_ACCESS: 'authenticated' } }, ({ api }) => {
  it('names a user by the path of version 2, whatever API changed them', async () => {
    const staff = await api.accounts.logInNewStaff();
    const { id } = (await api.post('/v2/users', { name: 'N' }, staff)).body.data;
    await api.put(`/v1/users/${id}`, { name: 'M' }, staff);
    const mutation = 'mutation ($id: ID!) { updateUser(id: $id, input: { name: "A" }) { id } }';
    await api.graphql(mutation, { id }, staff);
    await api.delete(`/v2/users/${id}`, staff);
    expect(await api.delete('/v2/users/99999', staff)).toBeError('NOT_FOUND');

    const { data } = (await api.get('/v1/audit?limit=4', staff)).body;
    expect(data.map(({ action, subject }: any) => `${action} → ${subject}`)).toEqual([
      `DELETE /v2/users/:id → /v2/users/${id}`,
      `mutation updateUser → /v2/users/${id}`,
      `PUT /v1/users/:id → /v2/users/${id}`,
      `POST /v2/users → /v2/users/${id}`,
    ]);
  });
});
