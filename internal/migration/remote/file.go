package remote

import (
	"path/filepath"
	"strings"
)

// pictures are the media types of files that pages show, by the ends of their names.
var pictures = map[string]string{".png": "image/png", ".gif": "image/gif", ".jpg": "image/jpeg", ".jpeg": "image/jpeg",
	".webp": "image/webp", ".avif": "image/avif"}

// Picture returns the media type of a picture that pages show, by its name; empty: it is another file.
func Picture(name string) string { return pictures[strings.ToLower(filepath.Ext(name))] }
