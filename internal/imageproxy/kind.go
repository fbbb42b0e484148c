package imageproxy

import (
	"bytes"
	"errors"
	"image"
	_ "image/gif" // sizes of images
	_ "image/jpeg"
	_ "image/png"
	"io"
	"net/http"
	"regexp"
)

const (
	headSize  = 32 << 10 // bytes from which the kind is told
	maxPixels = 50_000_000
	svg       = "image/svg+xml"
)

// kindOf is the media type of an image by its first bytes; empty: they are of no image that browsers show, or of
// one that takes hundreds of megabytes to show. What the other host says does not count.
func kindOf(head []byte) string {
	switch kind := http.DetectContentType(head); kind {
	case "image/png", "image/gif", "image/jpeg":
		if !modest(head, kind) {
			return ""
		}
		return kind
	case "image/webp", "image/x-icon":
		return kind
	}
	switch {
	case len(head) > 12 && string(head[4:12]) == "ftypavif":
		return "image/avif"
	case isSVG(head):
		return svg
	}
	return ""
}

// modest reports that the image has few pixels. The size of a JPEG may stand behind what was read.
func modest(head []byte, kind string) bool {
	size, format, err := image.DecodeConfig(bytes.NewReader(head))
	if err != nil {
		return kind == "image/jpeg" && errors.Is(err, io.ErrUnexpectedEOF)
	}
	return "image/"+format == kind && int64(size.Width)*int64(size.Height) <= maxPixels
}

// beforeSVG is what may stand before the first tag of an SVG. Each part ends where a browser ends it: else entities
// could stand in a part.
var beforeSVG = regexp.MustCompile(`^\x{feff}?\s*(<\?xml[^<>]*\?>|<!--([^-]|-[^-])*-->|` +
	`<!DOCTYPE([^\[>"']|"[^"]*"|'[^']*')*>|\s+)*<svg[\s>]`)

// isSVG reports an SVG without entities of its own, which could grow when they are read.
func isSVG(head []byte) bool { return beforeSVG.Match(head) }
