// Lists of issues, chosen by every parameter, and searches.
import assert from 'node:assert/strict';
import { created, data, of, refused } from './hub.mjs';

const here = { owner: 'orchard', repo: 'trees' };

export async function lists(hub) {
  await fill(hub);
  await ofRepository(hub);
  await acrossRepositories(hub);
  await pages(hub);
  await searches(hub);
}

// fill files seven issues, numbered 1 to 7, that differ in all that lists
// choose by.
async function fill({ as }) {
  const rose = as('rose').rest;
  await created(rose.repos.createInOrg({ org: 'orchard', name: 'trees' }));
  await rose.repos.addCollaborator({ ...here, username: 'robin', permission: 'push' });
  await created(rose.issues.createMilestone({ ...here, title: 'Spring' }));
  const file = (login, title, more) => created(as(login).rest.issues.create({ ...here, title, ...more }));
  await file('robin', 'one', { labels: ['bug', 'soil'], assignees: ['robin'], milestone: 1 });
  await file('robin', 'two', { labels: ['bug'], assignees: ['rose', 'robin'] });
  await file('sam', 'three', { body: 'Look at this, @robin' });
  await file('sam', 'four');
  await file('robin', 'five', { labels: ['soil', 'a b'], milestone: 1 });
  await file('sam', 'six');
  await file('sam', 'seven');
  for (const issue_number of [4, 5]) await data(as('robin').rest.issues.update({ ...here, issue_number, state: 'closed' }));
  for (const issue_number of [6, 3, 3]) await created(as('sam').rest.issues.createComment({ ...here, issue_number, body: 'hm' }));
}

async function ofRepository({ as }) {
  const { issues } = as().rest;
  const past = new Date(Date.now() - 3600e3).toISOString();
  const future = new Date(Date.now() + 3600e3).toISOString();
  for (const [parameters, numbers] of [
    [{}, '7 6 3 2 1'],
    [{ state: 'open' }, '7 6 3 2 1'],
    [{ state: 'closed' }, '5 4'],
    [{ state: 'all' }, '7 6 5 4 3 2 1'],
    [{ state: 'all', direction: 'asc' }, '1 2 3 4 5 6 7'],
    [{ sort: 'created', direction: 'desc' }, '7 6 3 2 1'],
    [{ sort: 'updated', state: 'all' }, '3 6 5 4 7 2 1'],
    [{ sort: 'comments', state: 'all' }, '3 6 7 5 4 2 1'],
    [{ sort: 'comments', direction: 'asc' }, '1 2 7 6 3'],
    [{ milestone: 1, state: 'all' }, '5 1'],
    [{ milestone: '*' }, '1'],
    [{ milestone: 'none' }, '7 6 3 2'],
    [{ assignee: 'Robin' }, '2 1'],
    [{ assignee: '*' }, '2 1'],
    [{ assignee: 'none', state: 'all' }, '7 6 5 4 3'],
    [{ assignee: 'nobody-here' }, ''],
    [{ creator: 'robin', state: 'all' }, '5 2 1'],
    [{ mentioned: 'robin' }, '3'],
    [{ labels: 'bug' }, '2 1'],
    [{ labels: 'Soil,bug' }, '1'],
    [{ labels: 'a b', state: 'all' }, '5'],
    [{ since: past }, '7 6 3 2 1'],
    [{ since: future }, ''],
    [{ milestone: 1, state: 'all', assignee: 'robin', creator: 'robin', labels: 'bug,soil', sort: 'updated', direction: 'asc', since: past }, '1'],
  ]) {
    for (const per_page of [undefined, 1, 2]) {
      const all = await as().paginate(issues.listForRepo, { ...here, ...parameters, per_page });
      assert.equal(of(all, 'number').join(' '), numbers, JSON.stringify(parameters));
    }
  }
  for (const [field, value] of [['state', 'ajar'], ['sort', 'title'], ['direction', 'up'], ['milestone', 'Spring'], ['since', 'yesterday']]) {
    await refused(issues.listForRepo({ ...here, [field]: value }), 422, { field, code: 'invalid' });
  }
}

async function acrossRepositories({ as }) {
  const { issues } = as('robin').rest;
  for (const [filter, numbers] of [[undefined, '2 1'], ['assigned', '2 1'], ['created', '2 1'], ['mentioned', '3'], ['subscribed', '3 2 1'], ['all', '7 6 3 2 1']]) {
    for (const [list, more] of [[issues.list], [issues.listForAuthenticatedUser], [issues.listForOrg, { org: 'orchard' }]]) {
      const all = await as('robin').paginate(list, { filter, per_page: 2, ...more });
      assert.equal(of(all, 'number').join(' '), numbers, `${list.endpoint.DEFAULTS.url} ${filter}`);
    }
  }
  const [first] = await data(issues.list({ filter: 'all', state: 'all', labels: 'soil', sort: 'created', direction: 'asc', since: '2020-01-01T00:00:00Z' }));
  assert.equal(first.repository.full_name, 'orchard/trees');
  assert.deepEqual(await data(as('robin').rest.issues.listForOrg({ org: 'garden', filter: 'assigned' })), []);
  assert.deepEqual(of(await data(issues.listForAuthenticatedUser()), 'number'), [2, 1]);
  await refused(issues.list({ filter: 'some' }), 422, { field: 'filter', code: 'invalid' });
  await refused(as().rest.issues.list(), 401);
  await refused(issues.listForOrg({ org: 'nowhere' }), 404);
}

// pages walks by the addresses of the Link header, as octokit's iterator does.
async function pages({ as, baseUrl }) {
  const sizes = [];
  for await (const { data, headers } of as().paginate.iterator(as().rest.issues.listForRepo, { ...here, state: 'all', per_page: 3 })) {
    sizes.push(data.length);
    for (const [, address] of (headers.link ?? '').matchAll(/<([^>]*)>/g)) {
      assert.ok(address.startsWith(`${baseUrl}/repos/orchard/trees/issues?`), address);
    }
  }
  assert.deepEqual(sizes, [3, 3, 1]);
  const past = await as().rest.issues.listForRepo({ ...here, state: 'all', per_page: 3, page: 9 });
  assert.deepEqual(past.data, []);
  assert.match(past.headers.link, /page=3>; rel="last".*page=1>; rel="first".*page=3>; rel="prev"/);
}

async function searches({ as }) {
  const { search } = as().rest;
  for (const [q, numbers] of [
    ['is:open', '7 6 3 2 1'],
    ['is:closed', '5 4'],
    ['author:robin', '5 2 1'],
    ['label:bug label:soil', '1'],
    ['label:"a b"', '5'],
    ['-label:bug is:open', '7 6 3'],
    ['no:assignee state:open', '7 6 3'],
    ['milestone:Spring', '5 1'],
    ['look in:body', '3'],
    ['FOUR', '4'],
    ['is:pr', ''],
  ]) {
    const ask = { q: `repo:orchard/trees ${q}`, sort: 'created', order: 'desc' };
    const found = await as().paginate(search.issuesAndPullRequests, { ...ask, per_page: 2 });
    assert.equal(of(found, 'number').join(' '), numbers, q);
    const { total_count, incomplete_results } = await data(search.issuesAndPullRequests(ask));
    assert.deepEqual([total_count, incomplete_results], [found.length, false]);
  }
  const { id } = await data(as().rest.repos.get({ owner: 'orchard', repo: 'trees' }));
  const labels = await data(search.labels({ repository_id: id, q: 'bug' }));
  assert.equal(labels.items[0].name, 'bug');
  for (const [kind, q] of [['repos', 'trees'], ['users', 'robin'], ['commits', 'user:orchard'], ['code', 'x user:orchard'],
    ['topics', 'nothinglikeit']]) {
    const found = await as().paginate(search[kind], { q, per_page: 1 });
    const { total_count, incomplete_results } = await data(search[kind]({ q }));
    assert.deepEqual([total_count, incomplete_results], [found.length, false], kind);
    await refused(search[kind]({ q: '' }), 422, { field: 'q', code: 'missing' });
  }
  await refused(search.issuesAndPullRequests({ q: '' }), 422, { field: 'q', code: 'missing' });
}
