// What builds say of a pull request, and merging it in every way.
import assert from 'node:assert/strict';
import { absent, created, data, empty, has, of, plot, refused } from './hub.mjs';
import { branch, put } from './pulls.mjs';

export async function merges(hub) {
  const here = await plot(hub, 'orchard');
  await put(hub.as('will'), here, undefined, 'README.md', '# Orchard\n');
  const own = await proposed(hub, here, 'plums');
  await built(hub, own);
  await broughtUp(hub, own);
  await merged(hub, own);
  await inOtherWays(hub, here);
  await conflicts(hub, here);
}

async function proposed({ as }, here, name, more) {
  const will = as('will');
  await branch(will, here, name, ...(more ?? []));
  const { number } = await created(will.rest.pulls.create({ ...here, title: `Plant ${name}`, head: name, base: 'main' }));
  return { ...here, pull_number: number };
}

async function built({ as }, own) {
  const { repos, pulls } = as('will').rest;
  const { owner, repo } = own;
  const { head } = await data(pulls.get(own));
  for (const [state, mergeable_state] of [['failure', 'unstable'], ['success', 'clean']]) {
    has(await created(repos.createCommitStatus({ owner, repo, sha: head.sha, state, context: 'build', description: state })), { state, context: 'build' });
    has(await data(pulls.get(own)), { mergeable_state });
  }
  has(await data(repos.getCombinedStatusForRef({ owner, repo, ref: 'plums' })), { state: 'success', total_count: 1, sha: head.sha });
  const all = await data(repos.listCommitStatusesForRef({ owner, repo, ref: head.sha }));
  assert.deepEqual(of(all, 'state'), ['success', 'failure']);
  assert.deepEqual(await data(as().request('GET /repos/{owner}/{repo}/statuses/{ref}', { owner, repo, ref: 'plums' })), all);
  await refused(repos.createCommitStatus({ owner, repo, sha: head.sha, state: 'fine' }), 422, { field: 'state', code: 'invalid' });
}

async function broughtUp({ as }, own) {
  const { pulls } = as('will').rest;
  const { head } = await data(pulls.get(own));
  await put(as('will'), { owner: own.owner, repo: own.repo }, 'main', 'fence.txt', 'wood\n');
  await refused(pulls.updateBranch({ ...own, expected_head_sha: '1'.repeat(40) }), 422);
  await data(pulls.updateBranch({ ...own, expected_head_sha: head.sha }), 202);
  const now = await data(pulls.get(own));
  has(now, { mergeable: true, commits: 2 });
  assert.notEqual(now.head.sha, head.sha);
}

async function merged({ as }, own) {
  const { pulls, git, issues } = as('will').rest;
  const { owner, repo } = own;
  const { head } = await data(pulls.get(own));
  await absent(pulls.checkIfMerged(own));
  await refused(as('sam').rest.pulls.merge(own), 403);
  await refused(pulls.merge({ ...own, sha: '1'.repeat(40) }), 409, { message: /^Head branch was modified/ });
  const result = await data(pulls.merge({ ...own, sha: head.sha, commit_title: 'Plums', commit_message: 'At last.' }));
  has(result, { merged: true, message: 'Pull Request successfully merged' });
  await empty(pulls.checkIfMerged(own));
  const pull = await data(pulls.get(own));
  has(pull, { state: 'closed', merged: true, merge_commit_sha: result.sha, mergeable: null });
  assert.equal(pull.merged_by.login, 'will');
  const commit = await data(git.getCommit({ owner, repo, commit_sha: result.sha }));
  assert.equal(commit.message, 'Plums\n\nAt last.');
  assert.equal(commit.parents[1].sha, head.sha);
  has(await data(issues.get({ owner, repo, issue_number: own.pull_number })), { state: 'closed' });
  await refused(pulls.merge(own), 405, { message: /not mergeable/ });
  await refused(pulls.update({ ...own, state: 'open' }), 422);
}

async function inOtherWays({ as }, here) {
  const { pulls, git } = as('will').rest;
  const parents = async (sha) => (await data(git.getCommit({ ...here, commit_sha: sha }))).parents.length;
  for (const [name, options, count] of [
    ['apples', {}, 2],
    ['pears', { merge_method: 'squash', commit_title: 'Pears' }, 1],
    ['figs', { merge_method: 'rebase' }, 1],
    ['limes', { squash: true, headers: { accept: 'application/vnd.service.polaris-preview+json' } }, 1],
  ]) {
    const own = await proposed({ as }, here, name);
    const { sha } = await data(pulls.merge({ ...own, ...options }));
    assert.equal(await parents(sha), count, name);
  }
}

async function conflicts({ as }, here) {
  const will = as('will');
  const left = await proposed({ as }, here, 'left', ['way.txt', 'left\n']);
  const right = await proposed({ as }, here, 'right', ['way.txt', 'right\n']);
  await data(will.rest.pulls.merge(left));
  has(await data(will.rest.pulls.get(right)), { mergeable: false, mergeable_state: 'dirty' });
  await refused(will.rest.pulls.merge(right), 405);
  await refused(will.rest.repos.merge({ ...here, base: 'right', head: 'main' }), 409);
  const done = await created(will.rest.repos.merge({ ...here, base: 'left', head: 'main', commit_message: 'Follow main' }));
  assert.equal(done.commit.message, 'Follow main');
  await empty(will.rest.repos.merge({ ...here, base: 'left', head: 'main' })); // nothing left to do
}
