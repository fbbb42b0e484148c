// What happened to an issue: its events, the repository's, and the timeline.
import assert from 'node:assert/strict';
import { created, data, empty, has, of, plot, refused } from './hub.mjs';

export async function events(hub) {
  const { as } = hub;
  const here = await plot(hub, 'frost');
  const { issues } = as('will').rest;
  await created(issues.createMilestone({ ...here, title: 'Spring' }));
  const { number: issue_number } = await created(issues.create({ ...here, title: 'Frost' }));
  const at = { ...here, issue_number };
  for (const change of [
    { title: 'Late frost' }, { labels: ['bug'] }, { labels: [] }, { assignees: ['alice'] }, { assignees: [] },
    { milestone: 1 }, { state: 'closed' }, { state: 'open' }, { milestone: null },
  ]) {
    await data(issues.update({ ...at, ...change }));
  }
  await created(issues.createComment({ ...at, body: '@sam: fleece?' }));
  await empty(issues.lock({ ...at, lock_reason: 'resolved' }));
  await empty(issues.unlock(at));
  await created(issues.create({ ...here, title: 'Fleece', body: `For #${issue_number}` }));
  await ofIssue(as, at);
  await ofRepository(as, here);
}

async function ofIssue(as, at) {
  const { issues } = as().rest;
  const all = await as().paginate(issues.listEvents, { ...at, per_page: 2 });
  assert.equal((await data(issues.listEvents({ ...at, per_page: 100 }))).length, all.length);
  const names = of(all, 'event').filter((name) => name !== 'subscribed');
  assert.deepEqual(names, ['renamed', 'labeled', 'unlabeled', 'assigned', 'unassigned', 'milestoned', 'closed', 'reopened', 'demilestoned',
    'mentioned', 'locked', 'unlocked']);
  const by = Object.fromEntries(all.map((event) => [event.event, event]));
  assert.deepEqual(by.renamed.rename, { from: 'Frost', to: 'Late frost' });
  has(by.labeled.label, { name: 'bug', color: 'd73a4a' });
  assert.equal(by.assigned.assignee.login, 'alice');
  assert.equal(by.demilestoned.milestone.title, 'Spring');
  assert.equal(by.locked.lock_reason, 'resolved');
  const one = await data(issues.getEvent({ owner: at.owner, repo: at.repo, event_id: by.closed.id }));
  has(one, { event: 'closed', url: by.closed.url });
  assert.equal(one.issue.number, at.issue_number);
  await refused(issues.getEvent({ owner: at.owner, repo: at.repo, event_id: 999_999 }), 404);
  const timeline = await as().paginate(issues.listEventsForTimeline, { ...at, per_page: 3 });
  assert.equal(timeline.find(({ event }) => event === 'commented').body, '@sam: fleece?');
  assert.equal(timeline.at(-1).event, 'cross-referenced');
  assert.equal(timeline.at(-1).source.issue.title, 'Fleece');
}

async function ofRepository(as, here) {
  const all = await as().paginate(as().rest.issues.listEventsForRepo, { ...here, per_page: 5 });
  const ids = of(all, 'id');
  assert.deepEqual(ids, [...ids].sort((a, b) => b - a));
  assert.deepEqual(of(await data(as().rest.issues.listEventsForRepo({ ...here, per_page: 3 })), 'id'), ids.slice(0, 3));
  assert.ok(all.every(({ issue, actor }) => issue.number && actor.login));
}
