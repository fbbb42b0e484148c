package page

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"embed"
	"encoding/binary"
	"encoding/hex"
	"html/template"
	"io"
	"io/fs"
	"net/http"
	"regexp"
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
	Editor              string // of the script of pages that edit a file
	files               map[string]asset
}

type asset struct {
	kind   string // its media type
	policy string
	zipped []byte
	size   int // of what is zipped
}

// Policies of files. The frame for diagrams runs a library over strangers' texts: it has an origin of its own, so
// whatever a text makes the library do reaches neither the page nor this site. The library sets styles in what it draws.
const (
	noPolicy    = "default-src 'none'; style-src 'unsafe-inline'; sandbox"
	workPolicy  = "default-src 'none'"
	framePolicy = "default-src 'none'; script-src 'self'; style-src 'unsafe-inline'; img-src data:; " +
		"frame-ancestors 'self'; sandbox allow-scripts"
)

// theAssets joins the style sheets and the scripts, each kind in the order of their names. The script knows the
// addresses of the libraries that it loads on pages that have formulas or diagrams, and has the icons of the editor.
var theAssets = sync.OnceValue(func() *assets {
	a := &assets{files: map[string]asset{}}
	a.Style = a.add("css", "text/css; charset=utf-8", noPolicy, []byte(tight.Replace(string(joined("assets/*.css")))))
	math, diagrams := a.addLib("math", workPolicy), a.addLib("diagrams", noPolicy)
	frame := a.add("html", "text/html; charset=utf-8", framePolicy,
		[]byte(`<!DOCTYPE html><title>Diagrams</title><script src="`+diagrams+`"></script>`+"\n"))
	a.Editor = a.addLib("editor", noPolicy)
	script := strings.NewReplacer("{{math}}", math, "{{diagrams}}", frame).Replace(string(joined("assets/*.js")))
	a.Script = a.add("js", scriptType, noPolicy, []byte(withIcons(script)))
	a.Icon = a.add("svg", "image/svg+xml", noPolicy, joined("assets/icon.svg"))
	return a
})

// iconName is where the script has an icon.
var iconName = regexp.MustCompile(`\{\{icon-[a-z-]+\}\}`)

// withIcons puts icons where the script names them, the same that templates have.
func withIcons(script string) string {
	icons := template.Must(template.ParseFS(files, "templates/icons.html"))
	return iconName.ReplaceAllStringFunc(script, func(name string) string {
		var b strings.Builder
		if err := icons.ExecuteTemplate(&b, strings.Trim(name, "{}"), nil); err != nil {
			panic(err)
		}
		return b.String()
	})
}

const scriptType = "text/javascript; charset=utf-8"

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

func (a *assets) add(end, kind, policy string, data []byte) (address string) {
	return a.put(end, asset{kind, policy, zip(data), len(data)})
}

// addLib adds a script that was built from libraries, see the folder lib.
func (a *assets) addLib(name, policy string) (address string) {
	zipped, err := assetFiles.ReadFile("assets/lib/" + name + ".js.gz")
	if err != nil {
		panic(err)
	}
	size := binary.LittleEndian.Uint32(zipped[len(zipped)-4:]) // RFC 1952
	return a.put("js", asset{scriptType, policy, zipped, int(size)})
}

func (a *assets) put(end string, f asset) (address string) {
	sum := sha256.Sum256(f.zipped)
	name := "arbor-" + hex.EncodeToString(sum[:6]) + "." + end
	a.files[name] = f
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
		free.Anyone("GET /assets/{asset}", k.Asset).In(route.Pages).WithoutToken().WithoutFactor(),
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
	h.Set("Content-Security-Policy", f.policy)
	h.Set("Vary", "Accept-Encoding")
	if web.AcceptsGzip(r.Header["Accept-Encoding"]) {
		h.Set("Content-Encoding", "gzip")
		h.Set("Content-Length", strconv.Itoa(len(f.zipped)))
		_, err := w.Write(f.zipped)
		return err
	}
	h.Set("Content-Length", strconv.Itoa(f.size))
	z, err := gzip.NewReader(bytes.NewReader(f.zipped))
	if err != nil {
		return err
	}
	_, err = io.Copy(w, z)
	return err
}

// colorToken is a token of a colour, in both themes or in one for both.
var colorToken = regexp.MustCompile(`(--[a-z0-9-]+): (?:light-dark\(|#|var\(--[a-z]+\))`)

// ColorTokens are the names of the colours that style sheets use.
func ColorTokens() (names []string) {
	for _, m := range colorToken.FindAllStringSubmatch(string(joined("assets/00-tokens.css")), -1) {
		names = append(names, m[1])
	}
	return names
}
