// Package docs holds the documentation, a Markdown file for each task.
package docs

import "embed"

// Files are the pages. README.md is the index.
//
//go:embed *.md
var Files embed.FS
