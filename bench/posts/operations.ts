/** The GraphQL operations that are measured. */
export const USERS = { query: '{ users(limit: 10) { id name email } }' };

export const USER_WITH_POSTS = {
  query: '{ user(id: 1) { id name posts(limit: 20) { id title status createdAt } } }',
};

export const UPDATE_USER = {
  query:
    'mutation ($id: ID!, $input: UpdateUserInput!) { updateUser(id: $id, input: $input) { id name email } }',
  variables: { id: '2', input: { name: 'Another name', email: 'another@example.com' } },
};

export const POSTS_WITH_AUTHORS = {
  query: `{ posts(first: 20) {
    nodes { id title status createdAt author { id name } } pageInfo { hasNextPage }
  } }`,
};
