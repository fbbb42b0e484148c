package page

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"io/fs"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"

	"arbor/internal/errs"
	"arbor/internal/route"
	"arbor/internal/scope"
	"arbor/internal/web"
)

//go:embed assets
var assetFiles embed.FS

// assets are the files that pages load, under names that change with what is in them, so browsers keep them
// for ever.
type assets struct {
	Style, Script, Icon string // addresses
	files               map[string]asset
}

type asset struct {
	kind         string // its media type
	data, zipped []byte
}

// theAssets joins the style sheets and the scripts, each kind in the order of their names.
var theAssets = sync.OnceValue(func() *assets {
	a := &assets{files: map[string]asset{}}
	a.Style = a.add("css", "text/css; charset=utf-8", []byte(tight.Replace(string(joined("assets/*.css")))))
	a.Script = a.add("js", "text/javascript; charset=utf-8", joined("assets/*.js"))
	a.Icon = a.add("svg", "image/svg+xml", joined("assets/icon.svg"))
	return a
})

// tight leaves out spaces of a style sheet that browsers do not need. No text in ours has any of these.
var tight = strings.NewReplacer(" { ", "{", " } ", "}", " }", "}", "; ", ";", ": ", ":", ", ", ",")

// joined is what is in the files that match, without indents, blank lines and lines of comments, which
// browsers do not need; a mistake is a panic with the first page and in every test.
func joined(pattern string) []byte {
	names, err := fs.Glob(assetFiles, pattern)
	if err != nil {
		panic(err)
	}
	slices.Sort(names)
	var b bytes.Buffer
	for _, name := range names {
		data, err := assetFiles.ReadFile(name)
		if err != nil {
			panic(err)
		}
		for line := range bytes.Lines(data) {
			line = bytes.TrimSpace(line)
			if len(line) == 0 || bytes.HasPrefix(line, []byte("//")) || isComment(line) {
				continue
			}
			b.Write(line)
			b.WriteByte('\n')
		}
	}
	return b.Bytes()
}

// isComment reports a line of a style sheet that holds a comment and nothing else.
func isComment(line []byte) bool {
	return bytes.HasPrefix(line, []byte("/*")) && bytes.HasSuffix(line, []byte("*/")) &&
		bytes.Count(line, []byte("*/")) == 1
}

func (a *assets) add(end, kind string, data []byte) (address string) {
	sum := sha256.Sum256(data)
	name := "arbor-" + hex.EncodeToString(sum[:6]) + "." + end
	a.files[name] = asset{kind, data, zip(data)}
	return "/assets/" + name
}

// zip compresses a file as far as that goes.
func zip(data []byte) []byte {
	var b bytes.Buffer
	z, err := gzip.NewWriterLevel(&b, gzip.BestCompression)
	if err == nil {
		_, err = z.Write(data)
	}
	if err == nil {
		err = z.Close()
	}
	if err != nil {
		panic(err) // a buffer takes what it is given
	}
	return b.Bytes()
}

// Routes are the files that pages load.
func (k *Kit) Routes() []route.Route {
	free := route.Needs(scope.None, route.None)
	return []route.Route{
		free.Anyone("GET /assets/{asset}", k.Asset).In(route.Pages).WithoutToken(),
		k.Router(free).Anyone("POST /settings/theme", k.Theme).WithoutToken(),
	}
}

// GET /assets/{asset}
//
// Asset answers a file that pages load, compressed to clients that take that. Error: 404.
func (k *Kit) Asset(w http.ResponseWriter, r *http.Request) error {
	f, found := theAssets().files[web.Param(r, "asset")]
	if !found {
		return errs.Absent()
	}
	h := w.Header()
	h.Set("Content-Type", f.kind)
	h.Set("Cache-Control", "public, max-age=31536000, immutable")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Content-Security-Policy", "default-src 'none'; style-src 'unsafe-inline'; sandbox")
	h.Set("Vary", "Accept-Encoding")
	body := f.data
	if web.AcceptsGzip(r.Header["Accept-Encoding"]) {
		h.Set("Content-Encoding", "gzip")
		body = f.zipped
	}
	h.Set("Content-Length", strconv.Itoa(len(body)))
	_, err := w.Write(body)
	return err
}
