// An organization and its people: accounts, memberships, repositories, roles.
import assert from 'node:assert/strict';
import { absent, created, data, empty, has, of, refused } from './hub.mjs';

export async function people(hub) {
  await profiles(hub);
  await members(hub);
  await repositories(hub);
  await collaborators(hub);
}

async function profiles({ as }) {
  const { users, meta, rateLimit } = as('alice').rest;
  has(await data(users.getAuthenticated()), { login: 'alice', type: 'User' });
  has(await data(users.updateAuthenticated({ name: 'Alice Ash', blog: '', bio: 'Sows.' })), { name: 'Alice Ash', bio: 'Sows.' });
  const seen = await data(as().rest.users.getByUsername({ username: 'ALICE' }));
  has(seen, { login: 'alice', name: 'Alice Ash', bio: 'Sows.' });
  const first = await as().rest.users.list({ per_page: 1 });
  assert.match(first.headers.link, /since=\d+.*; rel="next"/);
  const all = await as().paginate(as().rest.users.list, { per_page: 1 });
  assert.deepEqual(of(all, 'login').sort(), ['alice', 'garden', 'orchard', 'robin', 'rose', 'sam', 'will']);
  assert.ok((await data(rateLimit.get())).resources.core);
  assert.match((await data(meta.root())).current_user_url, /\/user$/);
  await refused(as().rest.users.getAuthenticated(), 401);
  await refused(users.getByUsername({ username: 'nobody' }), 404);
}

async function members({ as }) {
  const org = 'garden';
  const alice = as('alice').rest.orgs;
  const sam = as('sam').rest.orgs;
  has(await data(alice.update({ org, description: 'Of plants' })), { login: org, description: 'Of plants' });
  has(await data(sam.get({ org })), { description: 'Of plants' });
  has(await data(alice.setMembershipForUser({ org, username: 'sam', role: 'member' })), { role: 'member', state: 'active' });
  has(await data(sam.getMembershipForUser({ org, username: 'sam' })), { role: 'member' });
  await empty(as('alice').request('PUT /orgs/{org}/members/{username}', { org, username: 'will' }));
  assert.deepEqual(of(await data(alice.listMembers({ org, role: 'admin' })), 'login'), ['alice']);
  assert.deepEqual(of(await data(sam.listMembers({ org })), 'login').sort(), ['alice', 'sam', 'will']);
  await empty(sam.checkMembershipForUser({ org, username: 'alice' }));
  await absent(sam.checkPublicMembershipForUser({ org, username: 'sam' }));
  await empty(sam.setPublicMembershipForAuthenticatedUser({ org, username: 'sam' }));
  await empty(as().rest.orgs.checkPublicMembershipForUser({ org, username: 'sam' }));
  assert.deepEqual(of(await data(as().rest.orgs.listPublicMembers({ org })), 'login'), ['sam']);
  assert.deepEqual(of(await data(as().rest.orgs.listForUser({ username: 'sam' })), 'login'), [org]);
  await empty(sam.removePublicMembershipForAuthenticatedUser({ org, username: 'sam' }));
  assert.deepEqual(await data(as().rest.orgs.listForUser({ username: 'sam' })), []);
  assert.deepEqual(of(await data(sam.listForAuthenticatedUser()), 'login'), [org]);
  assert.deepEqual(of(await data(sam.listMembershipsForAuthenticatedUser({ state: 'active' })), 'role'), ['member']);
  await refused(sam.setMembershipForUser({ org, username: 'sam', role: 'admin' }), 403);
  await empty(alice.removeMembershipForUser({ org, username: 'will' }));
  await empty(alice.removeMember({ org, username: 'sam' }));
  await absent(alice.checkMembershipForUser({ org, username: 'sam' }));
  await refused(alice.removeMember({ org, username: 'alice' }), 422);
}

async function repositories({ as }) {
  const { repos } = as('alice').rest;
  const shed = await created(repos.createInOrg({ org: 'garden', name: 'shed', description: 'Tools' }));
  has(shed, { full_name: 'garden/shed', private: false, default_branch: 'main', description: 'Tools' });
  has(await created(repos.createForAuthenticatedUser({ name: 'diary', private: true })), { full_name: 'alice/diary', private: true });
  await refused(repos.createForAuthenticatedUser({ name: 'diary' }), 422, { field: 'name', code: 'custom' });
  assert.deepEqual(of(await data(repos.listForAuthenticatedUser({ affiliation: 'owner' })), 'name'), ['diary']);
  assert.deepEqual(await data(as('sam').rest.repos.listForUser({ username: 'alice', type: 'owner', sort: 'full_name' })), []);
  assert.deepEqual(of(await data(as().rest.repos.listForOrg({ org: 'garden', type: 'public' })), 'id'), [shed.id]);
  await refused(as('sam').rest.repos.get({ owner: 'alice', repo: 'diary' }), 404);
  await data(repos.update({ owner: 'alice', repo: 'diary', name: 'journal' }));
  has(await data(repos.get({ owner: 'alice', repo: 'diary' })), { full_name: 'alice/journal' }); // redirected
  await refused(as('sam').rest.repos.update({ owner: 'garden', repo: 'shed', description: '' }), 403);
  await empty(repos.delete({ owner: 'alice', repo: 'journal' }));
  await refused(repos.get({ owner: 'alice', repo: 'journal' }), 404);
}

async function collaborators({ as }) {
  const { repos } = as('alice').rest;
  const shed = { owner: 'garden', repo: 'shed' };
  const answer = await repos.addCollaborator({ ...shed, username: 'will', permission: 'push' });
  assert.ok([201, 204].includes(answer.status));
  has(await data(repos.getCollaboratorPermissionLevel({ ...shed, username: 'will' })), { permission: 'write' });
  assert.deepEqual(of(await data(repos.listCollaborators(shed)), 'login').sort(), ['alice', 'will']);
  assert.deepEqual(of(await data(repos.listCollaborators({ ...shed, affiliation: 'direct' })), 'login'), ['will']);
  assert.deepEqual(of(await data(repos.listCollaborators({ ...shed, permission: 'admin' })), 'login'), ['alice']);
  await empty(repos.checkCollaborator({ ...shed, username: 'will' }));
  await absent(repos.checkCollaborator({ ...shed, username: 'sam' }));
  await refused(as('will').rest.repos.removeCollaborator({ ...shed, username: 'alice' }), 403);
  await empty(repos.removeCollaborator({ ...shed, username: 'will' }));
  has(await data(repos.getCollaboratorPermissionLevel({ ...shed, username: 'will' })), { permission: 'read' });
}
