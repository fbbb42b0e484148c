// Queries and mutations, and errors as octokit tells them.
import assert from 'node:assert/strict';
import { GraphqlResponseError } from '@octokit/graphql';
import { created, plot } from './hub.mjs';

export async function graphql(hub) {
  const { as } = hub;
  const here = await plot(hub, 'trellis');
  for (const title of ['Peas', 'Beans', 'Hops']) {
    await created(as('will').rest.issues.create({ ...here, title }));
  }
  const titles = [];
  for (let after = null, more = true; more;) {
    const { repository: { issues } } = await as('will').graphql(`query ($owner: String!, $repo: String!, $after: String) {
      repository(owner: $owner, name: $repo) {
        issues(first: 2, after: $after, orderBy: {field: CREATED_AT, direction: ASC}) {
          nodes { id title } pageInfo { hasNextPage endCursor } totalCount
        }
      }
    }`, { ...here, after });
    assert.equal(issues.totalCount, 3);
    titles.push(...issues.nodes.map((issue) => issue.title));
    ({ hasNextPage: more, endCursor: after } = issues.pageInfo);
  }
  assert.deepEqual(titles, ['Peas', 'Beans', 'Hops']);

  const error = await as('will').graphql('query ($owner: String!) { repository(owner: $owner, name: "nowhere") { id } }', here)
    .then(() => assert.fail('a repository that is not there was found'), (caught) => caught);
  assert.ok(error instanceof GraphqlResponseError, error.stack);
  assert.equal(error.errors[0].type, 'NOT_FOUND');
  assert.deepEqual(error.data, { repository: null });
}
