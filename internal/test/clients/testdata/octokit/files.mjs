// Files by the contents API, and the histories that they leave.
import assert from 'node:assert/strict';
import { base64, data, has, of, plot, refused } from './hub.mjs';

export async function files(hub) {
  const here = await plot(hub, 'files');
  await refused(hub.as().rest.repos.listCommits(here), 409, { message: /empty/ });
  const first = await written(hub, here);
  await read(hub, here);
  await histories(hub, here, first);
  await owners(hub, here);
}

// What is wrong with the list of a branch's code owners.
async function owners({ as }, here) {
  const { repos } = as('will').rest;
  await refused(repos.codeownersErrors(here), 404);
  await data(repos.createOrUpdateFileContents({ ...here, path: '.github/CODEOWNERS', message: 'Own', content: base64('***/a @will\n') }), 201);
  const { errors } = await data(repos.codeownersErrors({ ...here, ref: 'main' }));
  assert.equal(errors.length, 1);
  has(errors[0], { line: 1, kind: 'Invalid pattern', path: '.github/CODEOWNERS' });
}

async function written({ as }, here) {
  const { repos } = as('will').rest;
  const put = (path, text, more) => repos.createOrUpdateFileContents({ ...here, path, message: `Write ${path}`, content: base64(text), ...more });
  const begun = await data(put('README.md', '# Files\n', { author: { name: 'Sam', email: 'sam@example.org' } }), 201);
  assert.equal(begun.commit.author.name, 'Sam');
  const inner = await data(put('docs/README.md', 'More\n'), 201);
  await data(put('docs/a b#c?.txt', 'odd\n'), 201);
  await data(put('README.md', '# Files of ours\n', { sha: begun.content.sha }));
  await refused(put('README.md', 'x', { sha: begun.content.sha }), 409);
  await refused(put('README.md', 'x'), 422);
  await refused(as('sam').rest.repos.createOrUpdateFileContents({ ...here, path: 'x', message: 'x', content: '' }), 403);
  const gone = await data(repos.deleteFile({ ...here, path: 'docs/README.md', message: 'Say less', sha: inner.content.sha, branch: 'main' }));
  assert.equal(gone.content, null);
  await data(put('docs/README.md', 'Again\n'), 201);
  return begun.commit.sha;
}

async function read({ as }, here) {
  const { repos } = as().rest;
  const root = await data(repos.getContent({ ...here, path: '' }));
  assert.deepEqual(of(root, 'path'), ['README.md', 'docs']);
  assert.deepEqual(await data(as().request('GET /repos/{owner}/{repo}/contents', here)), root);
  assert.deepEqual(of(await data(repos.getContent({ ...here, path: 'docs' })), 'name'), ['README.md', 'a b#c?.txt']);
  const odd = await data(repos.getContent({ ...here, path: 'docs/a b#c?.txt' }));
  assert.equal(Buffer.from(odd.content, 'base64').toString(), 'odd\n');
  const raw = { mediaType: { format: 'raw' } };
  assert.equal(await data(repos.getContent({ ...here, path: 'docs/a b#c?.txt', ...raw })), 'odd\n');
  for (const entry of [odd, root[0]]) {
    const body = await data(as().request(`GET ${entry.download_url}`));
    assert.equal(body, entry === odd ? 'odd\n' : '# Files of ours\n');
    assert.equal((await data(as().request(`GET ${entry.url}`))).sha, entry.sha);
  }
  has(await data(repos.getReadme({ ...here, ref: 'main' })), { path: 'README.md', size: 16 });
  assert.match(await data(repos.getReadme({ ...here, mediaType: { format: 'html' } })), /<h1.*Files of ours/s);
  has(await data(repos.getReadmeInDirectory({ ...here, dir: 'docs' })), { path: 'docs/README.md' });
  await refused(repos.getContent({ ...here, path: 'nowhere' }), 404);
}

async function histories({ as }, here, first) {
  const { repos, git } = as('will').rest;
  const commits = await as().paginate(repos.listCommits, { ...here, per_page: 2 });
  assert.equal(commits.length, 6);
  assert.equal(commits.at(-1).sha, first);
  assert.equal((await data(repos.listCommits({ ...here, path: 'README.md' }))).length, 2);
  assert.equal((await data(repos.listCommits({ ...here, sha: first }))).length, 1);
  assert.equal((await data(repos.listCommits({ ...here, since: '2100-01-01T00:00:00Z' }))).length, 0);
  await data(git.createRef({ ...here, ref: 'refs/heads/plan/old', sha: first }), 201);
  assert.deepEqual(of(await data(repos.listBranches(here)), 'name'), ['main', 'plan/old']);
  has((await data(repos.getBranch({ ...here, branch: 'plan/old' }))).commit, { sha: first });
  await refused(repos.getBranch({ ...here, branch: 'plan/none' }), 404);
  const commit = await data(repos.getCommit({ ...here, ref: 'plan/old' }));
  has(commit.files[0], { filename: 'README.md', status: 'added', additions: 1, patch: '@@ -0,0 +1 @@\n+# Files' });
  assert.match(await data(repos.getCommit({ ...here, ref: first, mediaType: { format: 'diff' } })), /^diff --git a\/README.md b\/README.md\n/);
  assert.match(await data(repos.getCommit({ ...here, ref: first, mediaType: { format: 'patch' } })), new RegExp(`^From ${first} `));
  assert.equal(await data(repos.getCommit({ ...here, ref: 'plan/old', mediaType: { format: 'sha' } })), first);
  assert.deepEqual(of(await data(repos.listBranchesForHeadCommit({ ...here, commit_sha: first })), 'name'), ['plan/old']);
  has(await data(repos.compareCommitsWithBasehead({ ...here, basehead: 'plan/old...main' })), { status: 'ahead', ahead_by: 5, behind_by: 0 });
  has(await data(repos.compareCommits({ ...here, base: 'main', head: 'plan/old' })), { status: 'behind', ahead_by: 0, behind_by: 5 });
  const diff = await data(repos.compareCommitsWithBasehead({ ...here, basehead: `${first}...main`, mediaType: { format: 'diff' } }));
  assert.match(diff, /\+# Files of ours/);
}
