package attachment

import (
	"net/http"
	"slices"

	"arbor/internal/file"
)

// headSize is how many bytes of a file say what it is.
const headSize = 512

// pictures are the media types that browsers show, of pictures in which nothing can run.
var pictures = []string{"image/png", "image/gif", "image/jpeg", "image/webp"}

// kindOf is the media type under which a file is served, by its first bytes: one of a picture, or that of any bytes.
func kindOf(head []byte) string {
	if kind := http.DetectContentType(head); slices.Contains(pictures, kind) {
		return kind
	}
	if len(head) >= 12 && string(head[4:8]) == "ftyp" && (string(head[8:12]) == "avif" || string(head[8:12]) == "avis") {
		return "image/avif"
	}
	return file.AnyBytes
}
