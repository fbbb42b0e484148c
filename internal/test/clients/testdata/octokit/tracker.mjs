// An issue tracker, from its labels to the lock on a conversation.
import assert from 'node:assert/strict';
import { absent, created, data, empty, has, of, plot, refused } from './hub.mjs';

export async function tracker(hub) {
  const here = await plot(hub, 'tracker');
  await labels(hub, here);
  await milestones(hub, here);
  const at = await issue(hub, here);
  await onIssue(hub, at);
  await comments(hub, at);
  await reactions(hub, at);
  await subscription(hub, at);
  await locks(hub, at);
  await refusals(hub, at);
}

async function labels({ as }, here) {
  const { issues } = as('will').rest;
  has(await created(issues.createLabel({ ...here, name: 'soil & water', color: '00FF7f', description: 'what grows' })), { name: 'soil & water', color: '00ff7f', default: false });
  has(await data(as().rest.issues.getLabel({ ...here, name: 'soil & water' })), { description: 'what grows' });
  has(await data(issues.updateLabel({ ...here, name: 'soil & water', new_name: 'soil', color: '795548' })), { name: 'soil', color: '795548' });
  await refused(issues.createLabel({ ...here, name: 'SOIL' }), 422, { field: 'name', code: 'already_exists' });
  await empty(issues.deleteLabel({ ...here, name: 'good first issue' }));
  await refused(issues.getLabel({ ...here, name: 'good first issue' }), 404);
  const names = await as().paginate(as().rest.issues.listLabelsForRepo, { ...here, per_page: 2 }, ({ data }) => of(data, 'name'));
  assert.equal(names.length, 9);
  assert.ok(names.includes('soil'));
}

async function milestones({ as }, here) {
  const { issues } = as('will').rest;
  const due_on = '2030-05-01T07:00:00Z';
  has(await created(issues.createMilestone({ ...here, title: 'Spring', description: 'sow', due_on })), { number: 1, title: 'Spring', state: 'open', due_on });
  await created(issues.createMilestone({ ...here, title: 'Never' }));
  has(await data(issues.updateMilestone({ ...here, milestone_number: 2, state: 'closed' })), { state: 'closed' });
  has(await data(issues.getMilestone({ ...here, milestone_number: 2 })), { title: 'Never', state: 'closed' });
  for (const [state, titles] of [['open', ['Spring']], ['closed', ['Never']], ['all', ['Spring', 'Never']]]) {
    assert.deepEqual(of(await data(issues.listMilestones({ ...here, state, sort: 'due_on', direction: 'asc' })), 'title'), titles);
  }
  await empty(issues.deleteMilestone({ ...here, milestone_number: 2 }));
  await refused(issues.getMilestone({ ...here, milestone_number: 2 }), 404);
}

// issue takes one through its states, and gives its address.
async function issue({ as }, here) {
  const { issues } = as('will').rest;
  const made = await created(issues.create({ ...here, title: 'Slugs', body: 'They *ate* it, @sam.', labels: ['bug', 'soil', 'new'], assignees: ['will', 'alice'], milestone: 1 }));
  const at = { ...here, issue_number: made.number };
  const read = await data(as().rest.issues.get(at));
  has(read, { title: 'Slugs', body: 'They *ate* it, @sam.', state: 'open', comments: 0, locked: false, author_association: 'COLLABORATOR' });
  assert.deepEqual(of(read.labels, 'name').sort(), ['bug', 'new', 'soil']);
  assert.deepEqual(of(read.assignees, 'login'), ['will', 'alice']);
  assert.equal(read.milestone.open_issues, 1);
  assert.equal(read.reactions.total_count, 0);
  const edited = await data(issues.update({ ...at, title: 'Slugs and snails', body: null, labels: [], assignees: ['alice'], milestone: null }));
  has(edited, { title: 'Slugs and snails', body: null, labels: [], milestone: null });
  assert.deepEqual(of(edited.assignees, 'login'), ['alice']);
  const closed = await data(issues.update({ ...at, state: 'closed', state_reason: 'not_planned' }));
  has(closed, { state: 'closed', state_reason: 'not_planned' });
  assert.equal(closed.closed_by.login, 'will');
  has(await data(issues.update({ ...at, state: 'open' })), { state: 'open', closed_at: null, closed_by: null });
  for (const [format, fields] of [['raw', ['body']], ['text', ['body_text']], ['html', ['body_html']], ['full', ['body', 'body_html', 'body_text']]]) {
    await data(issues.update({ ...at, body: 'They *ate* it.' }));
    const shown = await data(issues.get({ ...at, mediaType: { format } }));
    assert.deepEqual(Object.keys(shown).filter((key) => key.startsWith('body')).sort(), fields, format);
  }
  return at;
}

// onIssue changes labels and assignees at their own addresses.
async function onIssue({ as }, at) {
  const { issues } = as('will').rest;
  const { owner, repo } = at;
  assert.deepEqual(of(await data(issues.addLabels({ ...at, labels: ['soil', 'odd/ name'] })), 'name'), ['soil', 'odd/ name']);
  assert.deepEqual(of(await data(issues.removeLabel({ ...at, name: 'odd/ name' })), 'name'), ['soil']);
  await refused(issues.removeLabel({ ...at, name: 'odd/ name' }), 404);
  assert.deepEqual(of(await data(issues.setLabels({ ...at, labels: ['question', 'bug'] })), 'name').sort(), ['bug', 'question']);
  assert.equal((await data(issues.listLabelsOnIssue(at))).length, 2);
  await data(issues.update({ ...at, milestone: 1 }));
  assert.equal((await data(issues.listLabelsForMilestone({ owner, repo, milestone_number: 1 }))).length, 2);
  await empty(issues.removeAllLabels(at));
  assert.deepEqual(await data(issues.listLabelsOnIssue(at)), []);
  assert.deepEqual(of(await data(issues.listAssignees({ owner, repo })), 'login'), ['alice', 'will']);
  await empty(issues.checkUserCanBeAssigned({ owner, repo, assignee: 'will' }));
  await absent(issues.checkUserCanBeAssigned({ owner, repo, assignee: 'sam' }));
  await empty(issues.checkUserCanBeAssignedToIssue({ ...at, assignee: 'will' }));
  await absent(issues.checkUserCanBeAssignedToIssue({ ...at, assignee: 'sam' }));
  assert.deepEqual(of((await created(issues.addAssignees({ ...at, assignees: ['will'] }))).assignees, 'login'), ['alice', 'will']);
  assert.deepEqual(of((await data(issues.removeAssignees({ ...at, assignees: ['alice'] }))).assignees, 'login'), ['will']);
}

async function comments({ as }, at) {
  const sam = as('sam').rest.issues;
  const { owner, repo } = at;
  const ids = [];
  for (const body of ['one', 'two', 'three']) ids.push((await created(sam.createComment({ ...at, body }))).id);
  has(await data(sam.updateComment({ owner, repo, comment_id: ids[1], body: 'zwei' })), { body: 'zwei' });
  has(await data(sam.getComment({ owner, repo, comment_id: ids[1] })), { body: 'zwei', author_association: 'NONE' });
  await empty(sam.deleteComment({ owner, repo, comment_id: ids[0] }));
  assert.deepEqual(of(await data(sam.listComments(at)), 'id'), ids.slice(1));
  assert.deepEqual(of(await data(sam.listCommentsForRepo({ owner, repo, sort: 'created', direction: 'desc' })), 'id'), [ids[2], ids[1]]);
  assert.deepEqual(await data(sam.listComments({ ...at, since: new Date(Date.now() + 3600e3).toISOString() })), []);
  has(await data(sam.get(at)), { comments: 2 });
  await refused(as('sam').rest.issues.createComment({ ...at, body: '' }), 422);
}

async function reactions({ as }, at) {
  const { owner, repo } = at;
  const sam = as('sam').rest;
  const contents = ['+1', '-1', 'laugh', 'confused', 'heart', 'hooray', 'rocket', 'eyes'];
  for (const content of contents) await created(sam.reactions.createForIssue({ ...at, content }));
  const mine = await created(as('will').rest.reactions.createForIssue({ ...at, content: 'heart' }));
  has(await data(as('will').rest.reactions.createForIssue({ ...at, content: 'heart' })), { id: mine.id });
  assert.equal((await data(sam.reactions.listForIssue({ ...at, content: 'heart' }))).length, 2);
  has((await data(sam.issues.get(at))).reactions, { total_count: 9, heart: 2, '+1': 1 });
  await empty(as('will').rest.reactions.deleteForIssue({ ...at, reaction_id: mine.id }));
  assert.equal((await data(sam.reactions.listForIssue(at))).length, 8);
  await refused(sam.reactions.createForIssue({ ...at, content: 'thumb' }), 422, { field: 'content', code: 'invalid' });

  const [{ id: comment_id }] = await data(sam.issues.listComments(at));
  const on = { owner, repo, comment_id };
  const rocket = await created(sam.reactions.createForIssueComment({ ...on, content: 'rocket' }));
  assert.deepEqual(of(await data(sam.reactions.listForIssueComment(on)), 'content'), ['rocket']);
  await empty(sam.reactions.deleteForIssueComment({ ...on, reaction_id: rocket.id }));
  assert.deepEqual(await data(sam.reactions.listForIssueComment(on)), []);
}

// subscription has no method in the client: it is asked for by its address.
async function subscription({ as }, at) {
  const ask = (method, more) => as('sam').request(`${method} /repos/{owner}/{repo}/issues/{issue_number}/subscription`, { ...at, ...more });
  has(await data(ask('GET')), { subscribed: true, ignored: false });
  has(await data(ask('PUT', { ignored: true })), { subscribed: false, ignored: true });
  await empty(ask('DELETE'));
  await refused(ask('GET'), 404);
}

async function locks({ as }, at) {
  const { issues } = as('will').rest;
  const say = (login) => as(login).rest.issues.createComment({ ...at, body: 'one more thing' });
  await empty(issues.lock({ ...at, lock_reason: 'too heated' }));
  has(await data(issues.get(at)), { locked: true, active_lock_reason: 'too heated' });
  await refused(say('sam'), 403);
  await created(say('will'));
  await refused(as('sam').rest.issues.unlock(at), 403);
  await empty(issues.unlock(at));
  await created(say('sam'));
  await empty(issues.lock(at));
  has(await data(issues.get(at)), { locked: true, active_lock_reason: null });
}

async function refusals({ as }, at) {
  const { owner, repo } = at;
  const { issues } = as('will').rest;
  for (const [fields, field, code] of [
    [{ title: '' }, 'title', 'missing_field'],
    [{ title: 'x'.repeat(257) }, 'title', 'custom'],
    [{ title: 'x', body: 'x'.repeat(65_537) }, 'body', 'custom'],
    [{ title: 'x', milestone: 99 }, 'milestone', 'invalid'],
    [{ title: 'x', assignees: ['nobody'] }, 'assignees', 'invalid'],
  ]) {
    await refused(issues.create({ owner, repo, ...fields }), 422, { message: /^Validation Failed/, field, code });
  }
  await refused(issues.update({ ...at, state: 'ajar' }), 422, { field: 'state', code: 'invalid' });
  await refused(as('sam').rest.issues.update({ ...at, title: 'x' }), 403);
  await refused(issues.get({ owner, repo, issue_number: 9999 }), 404);
  await refused(as().rest.issues.create({ owner, repo, title: 'x' }), 401);
  const dropped = await created(as('sam').rest.issues.create({ owner, repo, title: 'Moles', labels: ['bug'], assignees: ['will'], milestone: 1 }));
  has(dropped, { labels: [], assignees: [], milestone: null }); // without push access
}
