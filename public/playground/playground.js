/* global GraphiQL, React, ReactDOM */

const headers = '{\n  "Authorization": "Bearer "\n}';

const examples = [
  {
    query: `# Users and their posts.
query Users {
  users(page: 1, limit: 5) {
    id
    name
    email
    createdAt
    posts(limit: 3) {
      id
      title
      status
      createdAt
    }
  }
}
`,
  },
  {
    query: `# One user; the id is in
# Variables, below.
query User($id: ID!) {
  user(id: $id) {
    id
    name
    posts {
      title
      content
      author {
        name
      }
    }
  }
}
`,
    variables: '{\n  "id": "1"\n}',
  },
  {
    query: `# Creates a user.
mutation CreateUser($input: CreateUserInput!) {
  createUser(input: $input) {
    id
    name
    email
    createdAt
  }
}
`,
    variables: '{\n  "input": {\n    "name": "Ada",\n    "email": "ada@example.com"\n  }\n}',
  },
  {
    query: `# Updates the given fields.
mutation UpdateUser($id: ID!, $input: UpdateUserInput!) {
  updateUser(id: $id, input: $input) {
    id
    name
    email
  }
}
`,
    variables: '{\n  "id": "1",\n  "input": {\n    "email": "author@example.com"\n  }\n}',
  },
  {
    query: `# The calling account: put
# an access token after
# "Bearer " in Headers,
# below.
query AsAccount {
  me {
    id
    email
    name
    role
  }
}
`,
  },
];

const root = ReactDOM.createRoot(document.getElementById('playground'));
root.render(
  React.createElement(GraphiQL, {
    fetcher: GraphiQL.createFetcher({
      url: '/graphql',
      subscriptionUrl: `${location.origin.replace(/^http/, 'ws')}/graphql`,
    }),
    defaultTabs: examples.map((example) => ({ ...example, headers })),
    defaultHeaders: headers,
    defaultEditorToolsVisibility: true,
    // Tabs are remembered, but not what is secret in them.
    shouldPersistHeaders: false,
  }),
);
