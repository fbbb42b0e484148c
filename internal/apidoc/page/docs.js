// Shows one of the two OpenAPI documents. A documentation_url ends in the id of
// an operation (/docs#get-repos-owner-repo): its document is opened there.
'use strict';

const documents = { hosting: '/openapi/code-hosting.json', plants: '/openapi/plants.json' };

// documentOf chooses a document by what stands behind the # of the address.
function documentOf(anchor) {
  return /^(tag\/plants|plants$|[a-z]+-plants(-|$))/.test(anchor) ? documents.plants : documents.hosting;
}

// operationIn finds an operation's anchor as Redoc writes it; undefined for none.
function operationIn(spec, id) {
  for (const path of Object.values(spec.paths)) {
    for (const operation of Object.values(path)) {
      if (operation.operationId === id) {
        return `#tag/${operation.tags[0]}/operation/${id}`;
      }
    }
  }
}

async function show() {
  const anchor = decodeURIComponent(location.hash.slice(1));
  const answer = await fetch(documentOf(anchor));
  const spec = await answer.json();
  const operation = operationIn(spec, anchor);
  if (operation) {
    history.replaceState(null, '', operation);
  }
  const options = {
    hideDownloadButton: true,
    showExtensions: ['x-right', 'x-media-types', 'x-previews'],
    theme: { typography: { fontFamily: 'sans-serif', headings: { fontFamily: 'sans-serif' } } },
  };
  Redoc.init(spec, options, document.getElementById('reference'));
}

let shown = documentOf(location.hash.slice(1));
addEventListener('hashchange', () => {
  const anchor = location.hash.slice(1);
  if (!anchor.startsWith('tag/') || documentOf(anchor) !== shown) {
    location.reload(); // another document, or an anchor to be led on
  }
});
show();
