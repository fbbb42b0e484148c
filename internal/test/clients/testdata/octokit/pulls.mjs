// Pull requests: proposed from a branch, from a fork and from an issue; listed,
// read and edited.
import assert from 'node:assert/strict';
import { absent, base64, created, data, has, of, plot, refused } from './hub.mjs';

// put writes a file and gives the commit.
export const put = async (client, here, branch, path, text) =>
  (await data(client.rest.repos.createOrUpdateFileContents({ ...here, branch, path, message: `Write ${path}`, content: base64(text) }), 201)).commit.sha;

// branch makes one from main, with a file of its own.
export async function branch(client, here, name, path = `${name}.txt`, text = `${name}\n`) {
  const { object } = await data(client.rest.git.getRef({ ...here, ref: 'heads/main' }));
  await created(client.rest.git.createRef({ ...here, ref: `refs/heads/${name}`, sha: object.sha }));
  return put(client, here, name, path, text);
}

export async function pulls(hub) {
  const here = await plot(hub, 'nursery');
  await put(hub.as('will'), here, undefined, 'README.md', '# Nursery\n');
  const own = await proposed(hub, here);
  await fromFork(hub, here);
  await fromIssue(hub, here);
  await listed(hub, here);
  await changed(hub, own);
  await edited(hub, own);
  await refusals(hub, here);
}

async function proposed({ as }, here) {
  const will = as('will');
  const sha = await branch(will, here, 'ferns');
  const made = await created(will.rest.pulls.create({ ...here, title: 'Add ferns', body: 'For shade', head: 'ferns', base: 'main' }));
  has(made, { number: 1, state: 'open', title: 'Add ferns', body: 'For shade', merged: false, mergeable: true, mergeable_state: 'clean', commits: 1, changed_files: 1, additions: 1, deletions: 0 });
  assert.deepEqual([made.head.label, made.head.sha, made.base.ref], ['garden:ferns', sha, 'main']);
  const own = { ...here, pull_number: made.number };
  for (const [name, { href }] of Object.entries(made._links)) {
    if (name === 'html' || href.includes('{')) continue;
    assert.equal((await as().request(`GET ${href}`)).status, 200, name);
  }
  return own;
}

async function fromFork({ as }, here) {
  const sam = as('sam');
  has(await data(sam.rest.repos.createFork(here), 202), { full_name: 'sam/nursery', fork: true });
  const theirs = { owner: 'sam', repo: 'nursery' };
  assert.equal((await data(sam.rest.repos.get(theirs))).parent.full_name, 'garden/nursery');
  assert.deepEqual(of(await data(as().rest.repos.listForks({ ...here, sort: 'newest' })), 'full_name'), ['sam/nursery']);
  await branch(sam, theirs, 'moss');
  const made = await created(sam.rest.pulls.create({ ...here, title: 'Add moss', head: 'sam:moss', base: 'main', maintainer_can_modify: true }));
  has(made, { number: 2, mergeable: true, body: null, maintainer_can_modify: true });
  assert.equal(made.head.repo.full_name, 'sam/nursery');
}

async function fromIssue({ as }, here) {
  const will = as('will');
  const { number } = await created(will.rest.issues.create({ ...here, title: 'No vines', body: 'Why?', labels: ['question'] }));
  await created(will.rest.issues.createComment({ ...here, issue_number: number, body: 'hm' }));
  await branch(will, here, 'vines');
  has(await created(will.rest.pulls.create({ ...here, issue: number, head: 'vines', base: 'main' })), { number, title: 'No vines', body: 'Why?', comments: 1 });
  const issue = await data(will.rest.issues.get({ ...here, issue_number: number }));
  assert.match(issue.pull_request.url, new RegExp(`/repos/garden/nursery/pulls/${number}$`));
}

async function listed({ as }, here) {
  const { pulls } = as().rest;
  await data(as('will').rest.pulls.update({ ...here, pull_number: 2, state: 'closed' }));
  for (const [parameters, numbers] of [
    [{}, '3 1'],
    [{ state: 'open' }, '3 1'],
    [{ state: 'closed' }, '2'],
    [{ state: 'all' }, '3 2 1'],
    [{ state: 'all', direction: 'asc' }, '1 2 3'],
    [{ state: 'all', sort: 'created' }, '3 2 1'],
    [{ state: 'all', sort: 'updated' }, '1 3 2'],
    [{ state: 'all', sort: 'updated', direction: 'desc' }, '2 3 1'],
    [{ state: 'all', sort: 'popularity', direction: 'desc' }, '3 2 1'],
    [{ sort: 'popularity' }, '1 3'],
    [{ sort: 'long-running' }, '1 3'],
    [{ head: 'garden:ferns' }, '1'],
    [{ head: 'sam:moss', state: 'all' }, '2'],
    [{ head: 'sam:ferns' }, ''],
    [{ base: 'main' }, '3 1'],
    [{ base: 'ferns' }, ''],
  ]) {
    const all = await as().paginate(pulls.list, { ...here, ...parameters, per_page: 1 });
    assert.equal(of(all, 'number').join(' '), numbers, JSON.stringify(parameters));
  }
  await refused(pulls.list({ ...here, sort: 'size' }), 422, { field: 'sort', code: 'invalid' });
  await data(as('sam').rest.pulls.update({ ...here, pull_number: 2, state: 'open' }));
}

async function changed({ as }, own) {
  const { pulls, repos } = as().rest;
  const commits = await data(pulls.listCommits(own));
  assert.deepEqual(commits.map(({ commit }) => commit.message), ['Write ferns.txt']);
  has((await data(pulls.listFiles(own)))[0], { filename: 'ferns.txt', status: 'added', additions: 1, patch: '@@ -0,0 +1 @@\n+ferns' });
  const show = (format) => data(pulls.get({ ...own, mediaType: { format } }));
  assert.match(await show('diff'), /^diff --git a\/ferns.txt b\/ferns.txt\n/);
  assert.match(await show('patch'), new RegExp(`^From ${commits[0].sha} `));
  const pull = await show('full');
  assert.match(pull.body_html, /<p[^>]*>For shade<\/p>/);
  for (const address of [pull.diff_url, pull.patch_url]) assert.match(await data(as().request(`GET ${address}`)), /ferns\.txt/);
  const of = await data(repos.listPullRequestsAssociatedWithCommit({ owner: own.owner, repo: own.repo, commit_sha: commits[0].sha }));
  assert.deepEqual(of.map(({ number }) => number), [1]);
  await absent(pulls.checkIfMerged(own));
}

async function edited({ as }, own) {
  const { pulls } = as('will').rest;
  has(await data(pulls.update({ ...own, title: 'Add tree ferns', body: '' })), { title: 'Add tree ferns', body: null });
  has(await data(pulls.update({ ...own, state: 'closed' })), { state: 'closed', merged: false });
  has(await data(pulls.update({ ...own, state: 'open' })), { state: 'open', closed_at: null });
  for (const base of ['vines', 'main']) {
    assert.equal((await data(pulls.update({ ...own, base }))).base.ref, base);
  }
  await refused(pulls.update({ ...own, base: 'nowhere' }), 422, { field: 'base', code: 'invalid' });
  await refused(as('sam').rest.pulls.update({ ...own, title: 'x' }), 403);
  await refused(pulls.update({ ...own, state: 'ajar' }), 422, { field: 'state', code: 'invalid' });
}

async function refusals({ as }, here) {
  const { pulls } = as('will').rest;
  const propose = (more) => pulls.create({ ...here, title: 'x', base: 'main', head: 'ferns', ...more });
  await refused(propose(), 422, { message: /^Validation Failed/ });
  await refused(propose({ head: 'nowhere' }), 422, { field: 'head', code: 'invalid' });
  await refused(propose({ head: 'nobody:x' }), 422, { field: 'head', code: 'invalid' });
  await refused(propose({ head: 'main' }), 422, { message: /^Validation Failed/ });
  await refused(propose({ title: undefined, issue: 99 }), 422);
  await refused(propose({ title: '' }), 422, { field: 'title', code: 'missing_field' });
  await refused(pulls.get({ ...here, pull_number: 99 }), 404);
}
