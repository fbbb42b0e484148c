// A release as semantic-release makes it: a draft, its files by upload_url, then it is published.
import assert from 'node:assert/strict';
import { absent, created, data, empty, has, plot, refused } from './hub.mjs';

export async function releases(hub) {
  const repo = await plot(hub, 'seeds');
  const repos = hub.as('alice').rest.repos;
  await repos.createOrUpdateFileContents({ ...repo, path: 'peas', message: 'Sow', content: 'cGVhcw==' });
  const draft = await created(repos.createRelease({ ...repo, tag_name: 'v1', draft: true, make_latest: 'true' }));
  const asset = await created(repos.uploadReleaseAsset({ url: draft.upload_url, name: 'peas.txt', label: 'Peas', data: 'peas' }));
  has(asset, { name: 'peas.txt', label: 'Peas', size: 4, state: 'uploaded' });
  await created(repos.uploadReleaseAsset({ ...repo, baseUrl: hub.baseUrl, release_id: draft.id, name: 'more.txt', data: 'beans' }));
  const anybody = hub.as().rest.repos;
  await absent(anybody.getRelease({ ...repo, release_id: draft.id }));
  has(await data(repos.updateRelease({ ...repo, release_id: draft.id, draft: false, make_latest: 'true' })), { draft: false });
  has(await data(anybody.getLatestRelease(repo)), { tag_name: 'v1' });
  const bytes = await data(anybody.getReleaseAsset({ ...repo, asset_id: asset.id, headers: { accept: 'application/octet-stream' } }));
  assert.equal(Buffer.from(bytes).toString(), 'peas');
  await refused(repos.createRelease({ ...repo, tag_name: 'v1' }), 422, { field: 'tag_name', code: 'already_exists' });
  await empty(repos.deleteRelease({ ...repo, release_id: draft.id }));
}
