// Following, feeds, archives and contributors.
import assert from 'node:assert/strict';
import { data, empty, of, plot } from './hub.mjs';

export async function feeds(hub) {
  const { as } = hub;
  const beets = await plot(hub, 'beets', { auto_init: true });
  await following(as);
  await as('sam').rest.issues.create({ ...beets, title: 'Slugs' });
  await as('rose').rest.activity.setRepoSubscription({ ...beets, subscribed: true });
  const whole = ['IssuesEvent', 'MemberEvent', 'CreateEvent'];
  const { activity, repos } = as().rest;
  const types = async (request) => of(await data(request), 'type');
  assert.deepEqual((await types(activity.listPublicEvents())).slice(0, 3), whole);
  assert.deepEqual(await types(activity.listRepoEvents(beets)), whole);
  assert.deepEqual(await types(activity.listPublicEventsForRepoNetwork(beets)), whole);
  assert.deepEqual((await types(activity.listPublicOrgEvents({ org: 'garden' }))).slice(0, 3), whole);
  assert.equal((await types(activity.listPublicEventsForUser({ username: 'sam' })))[0], 'IssuesEvent');
  assert.equal((await types(as('sam').rest.activity.listEventsForAuthenticatedUser({ username: 'sam' })))[0], 'IssuesEvent');
  assert.deepEqual((await types(as('alice').rest.activity.listOrgEventsForAuthenticatedUser({ username: 'alice', org: 'garden' }))).slice(0, 3), whole);
  assert.deepEqual((await types(as('rose').rest.activity.listReceivedEventsForUser({ username: 'rose' }))).slice(0, 3), whole);
  assert.deepEqual((await types(activity.listReceivedPublicEventsForUser({ username: 'rose' }))).slice(0, 3), whole);
  const [event] = await data(activity.listRepoEvents(beets));
  assert.equal(event.payload.issue.title, 'Slugs');
  assert.ok(Array.isArray(await data(repos.listContributors({ ...beets, anon: '1' }))));
  for (const archive of [repos.downloadTarballArchive, repos.downloadZipballArchive]) {
    assert.ok((await data(archive({ ...beets, ref: 'main' }))).byteLength > 100);
  }
  for (const format of ['tarball', 'zipball']) {
    await as().request(`GET /repos/{owner}/{repo}/${format}`, beets);
  }
  await as('sam').rest.activity.starRepoForAuthenticatedUser(beets);
  await empty(as().request('GET /users/{username}/starred/{owner}/{repo}', { username: 'sam', ...beets }));
  await as('sam').rest.activity.unstarRepoForAuthenticatedUser(beets);
  await as('rose').rest.activity.deleteRepoSubscription(beets);
}

async function following(as) {
  const { users } = as('sam').rest;
  await empty(users.follow({ username: 'alice' }));
  await empty(users.checkPersonIsFollowedByAuthenticated({ username: 'alice' }));
  await empty(as().rest.users.checkFollowingForUser({ username: 'sam', target_user: 'alice' }));
  assert.deepEqual(of(await data(users.listFollowedByAuthenticatedUser()), 'login'), ['alice']);
  assert.deepEqual(of(await data(as('alice').rest.users.listFollowersForAuthenticatedUser()), 'login'), ['sam']);
  assert.deepEqual(of(await data(as().rest.users.listFollowersForUser({ username: 'alice' })), 'login'), ['sam']);
  assert.deepEqual(of(await data(as().rest.users.listFollowingForUser({ username: 'sam' })), 'login'), ['alice']);
  await empty(users.unfollow({ username: 'alice' }));
}
