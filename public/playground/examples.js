// The examples of the playground; the first ones are its tabs. A test runs each of them.

export const EXAMPLES = [
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
    query: `# Posts, page by page: send endCursor as "after".
query Posts($first: Int, $after: String) {
  posts(
    first: $first
    after: $after
    orderBy: { field: title, direction: ASC }
  ) {
    totalCount
    nodes {
      id
      title
      status
      author {
        name
      }
    }
    pageInfo {
      hasNextPage
      endCursor
    }
  }
}
`,
    variables: '{\n  "first": 5\n}',
  },
  {
    query: `# Creates a post.
mutation CreatePost($input: CreatePostInput!) {
  createPost(input: $input) {
    id
    title
    status
    etag
  }
}
`,
    variables:
      '{\n  "input": {\n    "title": "Straße nach Rom",\n    "content": "Alle Wege führen dahin.",\n    "status": "published"\n  }\n}',
  },
  {
    query: `# One user; the id is in Variables, below.
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
    query: `# One post, with the etag for "ifMatch" below.
query Post($id: ID!) {
  post(id: $id) {
    id
    title
    content
    updatedAt
    etag
  }
}
`,
    variables: '{\n  "id": "1"\n}',
  },
  {
    query: `# Updates the given fields, of this version only if "ifMatch" has its etag.
mutation UpdatePost($id: ID!, $input: UpdatePostInput!, $ifMatch: String) {
  updatePost(id: $id, input: $input, ifMatch: $ifMatch) {
    id
    title
    updatedAt
    etag
  }
}
`,
    variables: '{\n  "id": "1",\n  "input": {\n    "title": "Another title"\n  }\n}',
  },
  {
    query: `# Deletes a post: put its id into Variables, below.
mutation DeletePost($id: ID!) {
  deletePost(id: $id)
}
`,
    variables: '{\n  "id": ""\n}',
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
    query: `# Deletes a user who has no posts: put the id into Variables, below.
mutation DeleteUser($id: ID!) {
  deleteUser(id: $id)
}
`,
    variables: '{\n  "id": ""\n}',
  },
  {
    query: `# The logged-in account.
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
