// What is the same for every operation: conditional requests, media types,
// errors, and the two dialects.
import assert from 'node:assert/strict';
import { RequestError } from '@octokit/request-error';
import { created, data, has, plot, refused } from './hub.mjs';

export async function protocol(hub) {
  const here = await plot(hub, 'protocol');
  const { number: issue_number } = await created(hub.as('will').rest.issues.create({ ...here, title: 'Once', body: 'As *it* was' }));
  await conditions(hub, { ...here, issue_number });
  await dialects(hub, { ...here, issue_number });
  await errors(hub, here);
}

// unchanged asks again with the ETag of an answer; octokit makes an error of a
// 304.
async function unchanged(request, name, { etag }) {
  assert.ok(etag, `${name} has no ETag`);
  await assert.rejects(request({ headers: { 'if-none-match': etag } }), (error) => {
    assert.ok(error instanceof RequestError, error.stack);
    assert.equal(error.status, 304, name);
    assert.equal(error.response.headers.etag, etag, name);
    return true;
  });
}

async function conditions({ as }, at) {
  const { owner, repo } = at;
  for (const login of [undefined, 'sam']) {
    const { issues, repos, pulls, activity, git } = as(login).rest;
    for (const [method, parameters] of [
      [issues.get, at], [issues.listForRepo, { owner, repo }], [issues.listComments, at], [issues.listEventsForTimeline, at],
      [issues.listLabelsForRepo, { owner, repo }], [repos.get, { owner, repo }], [pulls.list, { owner, repo }], [activity.listStargazersForRepo, { owner, repo }],
    ]) {
      const name = method.endpoint.DEFAULTS.url;
      const answer = await method(parameters);
      assert.match(answer.headers['cache-control'], login ? /^private/ : /^public/);
      await unchanged((more) => method({ ...parameters, ...more }), name, answer.headers);
    }
    await refused(git.getTree({ owner, repo, tree_sha: 'main' }), 409); // of an empty repository
  }
  const { issues } = as('will').rest;
  const { headers: { etag } } = await issues.get(at);
  await data(issues.update({ ...at, title: 'Twice' }));
  has(await data(issues.get({ ...at, headers: { 'if-none-match': etag } })), { title: 'Twice' });
}

// dialects asks for the same with GitHub's media types and with the interface's
// own, of which the previews have to be asked for one by one.
async function dialects({ as, baseUrl }, at) {
  const { issues } = as('will').rest;
  const show = async (accept) => (await data(issues.get({ ...at, headers: { accept } })));
  const all = await show('application/vnd.github+json');
  assert.ok(all.assignees && all.reactions);
  const plain = await show('application/vnd.service.v3+json');
  const graduated = baseUrl.endsWith('/api/v3'); // where only GitHub's clients look
  assert.deepEqual(['assignees' in plain, 'reactions' in plain], [graduated, graduated]);
  const both = await show('application/vnd.service.cerberus-preview+json, application/vnd.service.squirrel-girl-preview');
  assert.ok(both.assignees && both.reactions);
  const html = await show('application/vnd.service.v3.html+json');
  assert.match(html.body_html, /As <em>it<\/em> was/);
  assert.ok(!('body' in html));
  const lock = (accept) => issues.lock({ ...at, headers: { accept } });
  if (!graduated) await refused(lock('application/json'), 415, { message: /the-key-preview/ });
  assert.equal((await lock('application/vnd.service.the-key-preview+json')).status, 204);
  assert.equal((await issues.unlock(at)).status, 204);
  const { headers } = await issues.get(at);
  assert.match(headers['x-github-media-type'], /^github\.v3; format=json$/);
  assert.match(headers['x-service-media-type'], /^service\.v3; format=json$/);
  assert.match(headers['access-control-expose-headers'], /ETag/i);
}

async function errors({ as, by }, here) {
  const will = as('will');
  await refused(will.request('GET /repos/{owner}/{repo}/nothing', here), 404);
  await refused(will.request('DELETE /repos/{owner}/{repo}/issues', here), 405);
  await refused(will.request('POST /repos/{owner}/{repo}/issues', { ...here, data: '{"title": ' }), 400, { message: /Problems parsing JSON/ });
  await refused(will.request('POST /repos/{owner}/{repo}/issues', { ...here, data: [] }), 400, { message: /JSON object/ });
  await refused(will.request('GET /repos/{owner}/{repo}', { ...here, headers: { accept: 'text/csv' } }), 415);
  await refused(by('nonsense').rest.repos.get(here), 401, { message: /Bad credentials/ });
  const { headers, data: nothing } = await will.request('HEAD /repos/{owner}/{repo}', here);
  assert.ok(!nothing && headers.etag && Number(headers['content-length']) > 1000, JSON.stringify(headers));
  const post = await data(as('alice').request('POST /repos/{owner}/{repo}', { ...here, description: 'Said' })); // for a PATCH
  has(post, { description: 'Said' });
}
