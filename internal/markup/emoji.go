package markup

import (
	"net/http"
	"strconv"
	"strings"
	"sync"

	"arbor/internal/errs"
	"arbor/internal/markdown"
	"arbor/internal/web"
)

// catalog is the emojis that have a name: the file of the picture by the name, and the
// emoji by the file.
type catalog struct {
	files, emojis map[string]string
}

var emojis = sync.OnceValue(func() catalog {
	c := catalog{map[string]string{}, map[string]string{}}
	for name, text := range markdown.Emojis() {
		file := pictureOf(text)
		c.files[name], c.emojis[file] = file, text
	}
	return c
})

// pictureOf names the picture of an emoji by its code points, as GitHub does: 1f44d.svg.
func pictureOf(text string) string {
	var points []string
	for _, r := range text {
		points = append(points, strconv.FormatInt(int64(r), 16))
	}
	return strings.Join(points, "-") + ".svg"
}

// GET /emojis
//
// ListEmojis answers the names of emojis, each with the address of a picture.
func (api *API) ListEmojis(w http.ResponseWriter, r *http.Request) error {
	info, out := web.From(r.Context()), map[string]string{}
	for name, file := range emojis().files {
		out[name] = info.Page("/emojis/" + file)
	}
	return web.JSON(w, r, http.StatusOK, out)
}

// GET /emojis/{picture}
//
// GetEmoji answers the picture of an emoji: an SVG that shows it by a font of the reader's.
// Error: 404.
func (api *API) GetEmoji(w http.ResponseWriter, r *http.Request) error {
	file := web.Param(r, "picture")
	text, ok := emojis().emojis[file]
	if !ok {
		return errs.Absent()
	}
	h := w.Header()
	h.Set("Cache-Control", "public, max-age=31536000, immutable")
	if web.NotModified(w, r, `"emoji-1-`+strings.TrimSuffix(file, ".svg")+`"`) {
		return nil
	}
	picture := `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 64 64">` +
		`<text x="32" y="32" font-size="52" text-anchor="middle" dominant-baseline="central">` + text +
		`</text></svg>`
	h.Set("Content-Type", "image/svg+xml")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Content-Security-Policy", "default-src 'none'; sandbox")
	h.Set("Content-Length", strconv.Itoa(len(picture)))
	_, err := w.Write([]byte(picture))
	return err
}
