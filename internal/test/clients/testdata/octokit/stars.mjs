// Stars, with and without their times, and watching.
import assert from 'node:assert/strict';
import { absent, data, empty, has, of, plot, refused } from './hub.mjs';

export async function stars(hub) {
  const { as } = hub;
  const roses = await plot(hub, 'roses');
  const lilies = await plot(hub, 'lilies');
  await starred(as, roses, lilies);
  await starTimes(as, roses);
  await watched(as, roses);
}

async function starred(as, roses, lilies) {
  const sam = as('sam').rest.activity;
  await absent(sam.checkRepoIsStarredByAuthenticatedUser(roses));
  await empty(sam.starRepoForAuthenticatedUser(roses));
  await empty(sam.starRepoForAuthenticatedUser(lilies));
  await empty(sam.starRepoForAuthenticatedUser(roses)); // again: nothing happens
  await empty(sam.checkRepoIsStarredByAuthenticatedUser(roses));
  has(await data(as().rest.repos.get(roses)), { stargazers_count: 1, watchers_count: 1 });
  for (const [direction, names] of [['asc', ['roses', 'lilies']], ['desc', ['lilies', 'roses']], [undefined, ['lilies', 'roses']]]) {
    const order = { sort: 'created', direction };
    assert.deepEqual(of(await data(sam.listReposStarredByAuthenticatedUser(order)), 'name'), names);
    assert.deepEqual(of(await data(as().rest.activity.listReposStarredByUser({ username: 'sam', ...order })), 'name'), names);
  }
  assert.equal((await data(sam.listReposStarredByAuthenticatedUser({ sort: 'updated' }))).length, 2);
  await empty(sam.unstarRepoForAuthenticatedUser(lilies));
  await empty(sam.unstarRepoForAuthenticatedUser(lilies));
  await absent(sam.checkRepoIsStarredByAuthenticatedUser(lilies));
  await refused(sam.starRepoForAuthenticatedUser({ owner: 'garden', repo: 'nowhere' }), 404);
  await refused(as().rest.activity.starRepoForAuthenticatedUser(roses), 401);
  await refused(sam.listReposStarredByAuthenticatedUser({ sort: 'name' }), 422, { field: 'sort', code: 'invalid' });
}

async function starTimes(as, roses) {
  const { activity } = as('sam').rest;
  assert.deepEqual(of(await data(activity.listStargazersForRepo(roses)), 'login'), ['sam']);
  for (const accept of ['application/vnd.github.v3.star+json', 'application/vnd.github.star+json', 'application/vnd.service.v3.star+json']) {
    const headers = { accept };
    const [gazer] = await data(activity.listStargazersForRepo({ ...roses, headers }));
    const [mine] = await data(activity.listReposStarredByAuthenticatedUser({ headers }));
    const [theirs] = await data(activity.listReposStarredByUser({ username: 'sam', headers }));
    assert.match(gazer.starred_at, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/);
    assert.equal(gazer.user.login, 'sam');
    for (const record of [mine, theirs]) {
      assert.equal(record.starred_at, gazer.starred_at);
      assert.equal(record.repo.full_name, 'garden/roses');
    }
  }
}

async function watched(as, roses) {
  const sam = as('sam').rest.activity;
  await absent(sam.getRepoSubscription(roses));
  has(await data(sam.setRepoSubscription({ ...roses, subscribed: true })), { subscribed: true, ignored: false });
  has(await data(sam.getRepoSubscription(roses)), { subscribed: true });
  assert.ok(of(await data(as().rest.activity.listWatchersForRepo(roses)), 'login').includes('sam'));
  assert.deepEqual(of(await data(sam.listWatchedReposForAuthenticatedUser()), 'name'), ['roses']);
  assert.deepEqual(of(await data(as().rest.activity.listReposWatchedByUser({ username: 'sam' })), 'name'), ['roses']);
  await empty(sam.deleteRepoSubscription(roses));
  await absent(sam.getRepoSubscription(roses));
}
