// A team holds itself to rules: code owners, protection, rulesets, auto-merge and a merge queue.
import assert from 'node:assert/strict';
import { absent, base64, created, data, empty, has, of, plot, refused } from './hub.mjs';
import { branch, put } from './pulls.mjs';

export async function rules(hub) {
  const here = await plot(hub, 'hedge');
  await owners(hub, here);
  const own = await held(hub, here);
  await automatic(hub, here, own);
  await rulesets(hub, here);
  await queue(hub, here);
}

// owners are a team of robin's, who joins by an invitation.
async function owners({ as }, here) {
  const { orgs, teams, repos, users } = as('alice').rest;
  const { data: { id } } = await users.getByUsername({ username: 'robin' });
  const clippers = await created(teams.create({ org: 'garden', name: 'Clippers', privacy: 'closed' }));
  const invitation = await created(orgs.createInvitation({ org: 'garden', invitee_id: id, team_ids: [clippers.id] }));
  has(invitation, { login: 'robin', role: 'direct_member', team_count: 1 });
  has(await data(as('robin').rest.orgs.updateMembershipForAuthenticatedUser({ org: 'garden', state: 'active' })), { state: 'active' });
  const clipper = { org: 'garden', team_slug: clippers.slug };
  assert.deepEqual(of(await data(teams.listMembersInOrg(clipper)), 'login').includes('robin'), true);
  await empty(teams.addOrUpdateRepoPermissionsInOrg({ ...clipper, ...here, permission: 'push' }));
  await put(as('alice'), here, undefined, 'CODEOWNERS', '* @garden/clippers\n/x/ @nobody\n');
  const { errors } = await data(repos.codeownersErrors(here));
  assert.deepEqual(of(errors, 'line'), [2]);
}

// held is a pull request that nobody merges until an owner has approved.
async function held({ as }, here) {
  const { repos } = as('alice').rest;
  const main = { ...here, branch: 'main' };
  await absent(repos.getBranchProtection(main));
  const protection = await data(repos.updateBranchProtection({ ...main, enforce_admins: true, restrictions: null,
    required_status_checks: { strict: false, contexts: ['build'] },
    required_pull_request_reviews: { require_code_owner_reviews: true, required_approving_review_count: 1 } }));
  has(protection.required_pull_request_reviews, { require_code_owner_reviews: true, required_approving_review_count: 1 });
  assert.deepEqual(await data(repos.getBranchProtection(main)), protection);
  await refused(as('alice').rest.repos.createOrUpdateFileContents({ ...here, path: 'wall', message: 'Wall', content: base64('stone') }), 409,
    { message: /pull request/ });
  await branch(as('will'), here, 'box');
  const { number, mergeable_state } = await created(as('will').rest.pulls.create({ ...here, title: 'Box', head: 'box', base: 'main' }));
  assert.equal(mergeable_state, 'blocked');
  const own = { ...here, pull_number: number };
  const { requested_teams } = await data(as('alice').rest.pulls.get(own)); // will is no member, and sees no teams
  assert.deepEqual(of(requested_teams, 'slug'), ['clippers']);
  await refused(as('will').rest.pulls.merge(own), 405);
  await data(as('robin').rest.pulls.createReview({ ...own, event: 'APPROVE' }));
  await refused(as('will').rest.pulls.merge(own), 405, { message: /build/ });
  return own;
}

// automatic: it is merged by the status that was missing.
async function automatic({ as }, here, own) {
  await data(as('alice').rest.repos.update({ ...here, allow_auto_merge: true }));
  const { pulls, repos } = as('will').rest;
  const { node_id: id, head } = await data(pulls.get(own));
  await as('will').graphql(`mutation ($id: ID!) {
    enablePullRequestAutoMerge(input: {pullRequestId: $id, mergeMethod: SQUASH}) { pullRequest { autoMergeRequest { mergeMethod } } }
  }`, { id });
  const { auto_merge } = await data(pulls.get(own));
  has(auto_merge, { merge_method: 'squash' });
  assert.equal(auto_merge.enabled_by.login, 'will');
  await created(repos.createCommitStatus({ ...here, sha: head.sha, state: 'success', context: 'build' }));
  await until(async () => (await data(pulls.get(own))).merged);
  await empty(as('alice').rest.repos.deleteBranchProtection({ ...here, branch: 'main' }));
}

async function rulesets({ as }, here) {
  const { repos } = as('alice').rest;
  const conditions = { ref_name: { include: ['~DEFAULT_BRANCH'], exclude: [] } };
  const made = await data(repos.createOrgRuleset({ org: 'garden', name: 'subjects', enforcement: 'active', target: 'branch',
    conditions: { ...conditions, repository_name: { include: ['hedge'], exclude: [] } },
    rules: [{ type: 'commit_message_pattern', parameters: { operator: 'starts_with', pattern: 'Hedge: ' } }] }), 201);
  const rules = await data(as('will').rest.repos.getBranchRules({ ...here, branch: 'main' }));
  has(rules[0], { type: 'commit_message_pattern', ruleset_source: 'garden', ruleset_id: made.id });
  const wall = { ...here, path: 'wall', content: base64('stone') };
  await refused(as('will').rest.repos.createOrUpdateFileContents({ ...wall, message: 'Wall' }), 409, { message: /must start with/ });
  await created(as('will').rest.repos.createOrUpdateFileContents({ ...wall, message: 'Hedge: wall' }));
  const suites = await data(repos.getRepoRuleSuites({ ...here, rule_suite_result: 'fail' }));
  has(suites[0], { actor_name: 'will', ref: 'refs/heads/main', result: 'fail' });
  await empty(repos.deleteOrgRuleset({ org: 'garden', ruleset_id: made.id }));
}

// queue merges a pull request once the commit that it would make has succeeded.
async function queue({ as }, here) {
  const { repos } = as('alice').rest;
  await data(repos.createRepoRuleset({ ...here, name: 'queue', enforcement: 'active', target: 'branch',
    conditions: { ref_name: { include: ['~DEFAULT_BRANCH'], exclude: [] } },
    rules: [{ type: 'merge_queue' }, { type: 'required_status_checks', parameters: { strict_required_status_checks_policy: false,
      required_status_checks: [{ context: 'build' }] } }] }), 201);
  const will = as('will');
  const head = await branch(will, here, 'yew');
  const { number, node_id: id } = await created(will.rest.pulls.create({ ...here, title: 'Yew', head: 'yew', base: 'main' }));
  await created(will.rest.repos.createCommitStatus({ ...here, sha: head, state: 'success', context: 'build' }));
  await refused(will.rest.pulls.merge({ ...here, pull_number: number }), 405, { message: /queue/ });
  await will.graphql('mutation ($id: ID!) { enqueuePullRequest(input: {pullRequestId: $id}) { mergeQueueEntry { position } } }', { id });
  const group = await until(async () => (await data(will.rest.git.listMatchingRefs({ ...here, ref: 'heads/gh-readonly-queue/main' })))[0]);
  await created(will.rest.repos.createCommitStatus({ ...here, sha: group.object.sha, state: 'success', context: 'build' }));
  await until(async () => (await data(will.rest.pulls.get({ ...here, pull_number: number }))).merged);
  has((await data(will.rest.git.getRef({ ...here, ref: 'heads/main' }))).object, { sha: group.object.sha });
}

// until asks again until there is an answer; a test has its own end.
async function until(ask) {
  for (;;) {
    const answer = await ask();
    if (answer) return answer;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}
