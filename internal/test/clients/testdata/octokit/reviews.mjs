// Reviewers at work: who is asked, what they say of lines, and what they decide.
import assert from 'node:assert/strict';
import { created, data, empty, has, of, plot, refused } from './hub.mjs';
import { branch, put } from './pulls.mjs';

export async function reviews(hub) {
  const here = await plot(hub, 'beds');
  const will = hub.as('will');
  await put(will, here, undefined, 'README.md', '# Beds\n');
  const commit_id = await branch(will, here, 'beans', 'beds.txt', 'peas\nbeans\nleeks\n');
  const { number } = await created(will.rest.pulls.create({ ...here, title: 'Beans', head: 'beans', base: 'main' }));
  const own = { ...here, pull_number: number };
  await requested(hub, own);
  await pending(hub, own, commit_id);
  await lines(hub, here, own, commit_id);
  await verdicts(hub, own);
}

async function requested({ as }, own) {
  const { pulls } = as('will').rest;
  const asked = await created(pulls.requestReviewers({ ...own, reviewers: ['alice', 'sam'] }));
  assert.deepEqual(of(asked.requested_reviewers, 'login').sort(), ['alice', 'sam']);
  const left = await data(pulls.removeRequestedReviewers({ ...own, reviewers: ['sam'] }));
  assert.deepEqual(of(left.requested_reviewers, 'login'), ['alice']);
  assert.deepEqual(of((await data(pulls.listRequestedReviewers(own))).users, 'login'), ['alice']);
  await refused(pulls.requestReviewers({ ...own, reviewers: ['will'] }), 422);
}

async function pending({ as }, own, commit_id) {
  const { pulls } = as('sam').rest;
  const comments = [{ path: 'beds.txt', line: 2, side: 'RIGHT', body: 'Which?' }];
  const review = await data(pulls.createReview({ ...own, body: 'A thought', comments }));
  has(review, { state: 'PENDING', body: 'A thought', commit_id });
  const at = { ...own, review_id: review.id };
  assert.deepEqual(await data(as('will').rest.pulls.listReviews(own)), []); // nobody else sees it
  has(await data(pulls.updateReview({ ...at, body: 'Two thoughts' })), { body: 'Two thoughts' });
  has(await data(pulls.submitReview({ ...at, event: 'COMMENT' })), { state: 'COMMENTED' });
  has(await data(as('will').rest.pulls.getReview(at)), { state: 'COMMENTED', body: 'Two thoughts' });
  assert.deepEqual(of(await data(pulls.listCommentsForReview(at)), 'body'), ['Which?']);
  const other = await data(pulls.createReview({ ...own, body: 'Never mind' }));
  await data(pulls.deletePendingReview({ ...own, review_id: other.id }));
  await refused(pulls.getReview({ ...own, review_id: other.id }), 404);
}

async function lines({ as }, here, own, commit_id) {
  const { pulls, reactions } = as('will').rest;
  const [first] = await data(pulls.listReviewComments(own));
  const reply = await created(pulls.createReplyForReviewComment({ ...own, comment_id: first.id, body: 'Climbing ones' }));
  has(reply, { in_reply_to_id: first.id, body: 'Climbing ones' });
  const made = await created(pulls.createReviewComment({ ...own, commit_id, path: 'beds.txt', start_line: 1, line: 3, side: 'RIGHT', body: 'All of it' }));
  has(made, { line: 3, start_line: 1, position: 3, diff_hunk: '@@ -0,0 +1,3 @@\n+peas\n+beans\n+leeks' });
  const at = { ...here, comment_id: made.id };
  has(await data(pulls.updateReviewComment({ ...at, body: 'These' })), { body: 'These' });
  const heart = await created(reactions.createForPullRequestReviewComment({ ...at, content: 'heart' }));
  assert.deepEqual(of(await data(reactions.listForPullRequestReviewComment(at)), 'content'), ['heart']);
  assert.equal((await data(pulls.getReviewComment(at))).reactions.heart, 1);
  await empty(reactions.deleteForPullRequestComment({ ...at, reaction_id: heart.id }));
  assert.deepEqual(of(await data(pulls.listReviewCommentsForRepo({ ...here, sort: 'created', direction: 'desc' })), 'id'), [made.id, reply.id, first.id]);
  await empty(pulls.deleteReviewComment(at));
  has(await data(pulls.get(own)), { review_comments: 2 });
  await refused(pulls.createReviewComment({ ...own, commit_id, path: 'beds.txt', line: 99, body: 'x' }), 422);
}

async function verdicts({ as }, own) {
  const alice = as('alice').rest.pulls;
  const no = await data(alice.createReview({ ...own, event: 'REQUEST_CHANGES', body: 'No stakes' }));
  has(no, { state: 'CHANGES_REQUESTED' });
  assert.deepEqual((await data(alice.get(own))).requested_reviewers, []);
  has(await data(alice.dismissReview({ ...own, review_id: no.id, message: 'There are some', event: 'DISMISS' })), { state: 'DISMISSED' });
  has(await data(alice.createReview({ ...own, event: 'APPROVE' })), { state: 'APPROVED' });
  await refused(as('will').rest.pulls.createReview({ ...own, event: 'APPROVE' }), 422);
  const names = of(await as().paginate(as().rest.issues.listEventsForTimeline, { owner: own.owner, repo: own.repo, issue_number: own.pull_number }), 'event');
  for (const name of ['review_requested', 'review_request_removed', 'reviewed', 'review_dismissed']) assert.ok(names.includes(name), `${name} in ${names}`);
}
