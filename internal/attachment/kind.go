package attachment

import (
	"encoding/binary"
	"net/http"
	"slices"

	"arbor/internal/file"
)

// headSize is how many bytes of a file say what it is.
const headSize = 512

// pictures are the media types that browsers show, of pictures in which nothing can run.
var pictures = []string{"image/png", "image/gif", "image/jpeg", "image/webp"}

// kindOf is the media type under which a file is served, by its first bytes: one of a picture, or that of any
// bytes.
func kindOf(head []byte) string {
	if kind := http.DetectContentType(head); slices.Contains(pictures, kind) {
		return kind
	}
	if isAVIF(head) {
		return "image/avif"
	}
	return file.AnyBytes
}

// CleanType is the media type of an attachment of another server: a picture's, or that of any bytes.
func CleanType(given string) string {
	if given == "image/avif" || slices.Contains(pictures, given) {
		return given
	}
	return file.AnyBytes
}

// isAVIF reports a file that begins with a whole file type box of a picture or a sequence in AVIF: its size,
// "ftyp", the brand, a version, and compatible brands of four bytes each (ISO/IEC 14496-12, 4.3).
func isAVIF(head []byte) bool {
	if len(head) < 16 || string(head[4:8]) != "ftyp" ||
		string(head[8:12]) != "avif" && string(head[8:12]) != "avis" {
		return false
	}
	size := binary.BigEndian.Uint32(head)
	return size >= 16 && size%4 == 0 && int64(size) <= int64(len(head))
}
