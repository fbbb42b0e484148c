// Git's own objects: blobs, trees, commits, tags and refs made by requests.
import assert from 'node:assert/strict';
import { base64, created, data, empty, has, of, plot, refused } from './hub.mjs';

export async function objects(hub) {
  const here = await plot(hub, 'objects');
  const { as } = hub;
  const { sha: first } = (await data(as('will').rest.repos.createOrUpdateFileContents({ ...here, path: 'README.md', message: 'Begin', content: base64('hi\n') }), 201)).commit;
  const tree = await trees(hub, here, first);
  const second = await commits(hub, here, first, tree);
  await refs(hub, here, first, second);
}

async function trees({ as }, here, first) {
  const { git } = as('will').rest;
  const blob = await created(git.createBlob({ ...here, content: 'AAEC/w==', encoding: 'base64' }));
  has(await data(git.getBlob({ ...here, file_sha: blob.sha })), { size: 4, encoding: 'base64' });
  const text = await created(git.createBlob({ ...here, content: 'grüße', encoding: 'utf-8' }));
  assert.equal(await data(git.getBlob({ ...here, file_sha: text.sha, mediaType: { format: 'raw' } })), 'grüße');
  const beds = await created(git.createTree({ ...here, tree: [{ path: 'east', mode: '100644', type: 'blob', sha: blob.sha }, { path: 'west', mode: '120000', type: 'blob', content: 'east' }] }));
  has(beds, { truncated: false });
  const tree = await created(git.createTree({
    ...here,
    base_tree: first,
    tree: [
      { path: 'beds', mode: '040000', type: 'tree', sha: beds.sha },
      { path: 'beds/east', mode: '100755', type: 'blob', content: '#!/bin/sh\n' }, // wins over the tree
      { path: 'a/b/c', mode: '100644', type: 'blob', content: 'deep\n' },
      { path: 'lib', mode: '160000', type: 'commit', sha: first },
      { path: 'README.md', mode: '100644', type: 'blob', sha: null }, // removed
    ],
  }));
  const flat = await data(git.getTree({ ...here, tree_sha: tree.sha }));
  assert.deepEqual(flat.tree.map(({ path, mode, type }) => `${mode} ${type} ${path}`), ['040000 tree a', '040000 tree beds', '160000 commit lib']);
  const deep = await data(git.getTree({ ...here, tree_sha: tree.sha, recursive: '1' }));
  assert.deepEqual(of(deep.tree, 'path'), ['a', 'a/b', 'a/b/c', 'beds', 'beds/east', 'beds/west', 'lib']);
  has(deep.tree[4], { mode: '100755', size: 10 });
  has(await data(git.getTree({ ...here, tree_sha: 'main' })), { truncated: false });
  for (const entry of [
    { path: '.git/config', mode: '100644', content: 'x' },
    { path: '../x', mode: '100644', content: 'x' },
    { path: 'x', mode: '100000', content: 'x' },
    { path: 'x', mode: '100644', type: 'tree', sha: blob.sha },
    { path: 'x', mode: '100644', sha: '1'.repeat(40) },
  ]) {
    await refused(git.createTree({ ...here, tree: [entry] }), 422);
  }
  await refused(git.createTree({ ...here, tree: [] }), 422);
  await refused(as('sam').rest.git.createTree({ ...here, tree: [{ path: 'x', mode: '100644', content: 'x' }] }), 403);
  return tree.sha;
}

async function commits({ as }, here, first, tree) {
  const { git } = as('will').rest;
  const author = { name: 'Sam', email: 'sam@example.org', date: '2020-02-02T02:02:02Z' };
  const commit = await created(git.createCommit({ ...here, message: 'Lay beds', tree, parents: [first], author }));
  const read = await data(git.getCommit({ ...here, commit_sha: commit.sha }));
  has(read, { message: 'Lay beds', author });
  assert.equal(read.tree.sha, tree);
  assert.deepEqual(of(read.parents, 'sha'), [first]);
  await refused(git.createCommit({ ...here, message: 'x', tree: first, parents: [] }), 422);
  return commit.sha;
}

async function refs({ as }, here, first, second) {
  const { git, repos } = as('will').rest;
  const ref = 'heads/plan/beds';
  await created(git.createRef({ ...here, ref: `refs/${ref}`, sha: first }));
  await refused(git.createRef({ ...here, ref: `refs/${ref}`, sha: first }), 422);
  has((await data(git.updateRef({ ...here, ref, sha: second }))).object, { sha: second, type: 'commit' });
  await refused(git.updateRef({ ...here, ref, sha: first }), 422);
  await data(git.updateRef({ ...here, ref, sha: first, force: true }));
  await data(git.updateRef({ ...here, ref, sha: second }));
  has((await data(git.getRef({ ...here, ref }))).object, { sha: second });
  const tag = await created(git.createTag({ ...here, tag: 'v1', message: 'One', object: second, type: 'commit' }));
  await created(git.createRef({ ...here, ref: 'refs/tags/v1', sha: tag.sha }));
  has((await data(git.getTag({ ...here, tag_sha: tag.sha }))).object, { sha: second });
  has((await data(repos.listTags(here)))[0].commit, { sha: second });
  assert.deepEqual(of(await data(git.listMatchingRefs({ ...here, ref: 'heads/plan' })), 'ref'), [`refs/${ref}`]);
  assert.deepEqual(of(await data(as().request('GET /repos/{owner}/{repo}/git/refs', here)), 'ref'), ['refs/heads/main', `refs/${ref}`, 'refs/tags/v1']);
  has(await data(as().request('GET /repos/{owner}/{repo}/git/refs/{+ref}', { ...here, ref: 'tags/v1' })), { ref: 'refs/tags/v1' });
  await empty(git.deleteRef({ ...here, ref: 'tags/v1' }));
  await refused(git.getRef({ ...here, ref: 'tags/v1' }), 404);
}
