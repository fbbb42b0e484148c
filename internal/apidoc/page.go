package apidoc

import _ "embed"

// Page is what people read at /docs: a page on which Redoc, a renderer of
// OpenAPI documents, shows those that the server has. docs.js leads the anchors
// of documentation_url to their operations (decision 15).
//
//go:embed page/docs.html
var Page []byte

// Script is /docs/docs.js.
//
//go:embed page/docs.js
var Script []byte

// Redoc is the renderer, unchanged; redoc.LICENSE next to it is its license.
//
//go:embed page/redoc.js
var Redoc []byte

// PagePolicy is the Content-Security-Policy of the page. Redoc styles elements
// one by one and searches in a worker that it makes itself. Nothing is loaded from another
// host: the documents are compiled in.
const PagePolicy = "default-src 'none'; script-src 'self'; style-src 'unsafe-inline'; " +
	"img-src data:; connect-src 'self'; worker-src blob:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
