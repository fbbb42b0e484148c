package page

import (
	"bytes"
	"net/http"
	"slices"
	"strings"

	"arbor/internal/web"
)

// maxKept is the maximum size of a form that is kept for a user who is no longer signed in.
const maxKept = 256 << 10

// keptField is a field of a form, to be sent again.
type keptField struct{ Name, Value string }

// keep responds to a form whose sender is no longer signed in with a page that contains the input, to be
// sent again after signing in. It does so only for the site's own forms, because another site's could make
// users send what they did not write. It does not keep forms that are too large or contain a password or
// another secret; then ok is false.
func (k *Kit) keep(w http.ResponseWriter, r *http.Request) (ok bool) {
	mode := r.Header.Get("Sec-Fetch-Mode")
	if r.Method != http.MethodPost || r.Header.Get("Origin") != web.From(r.Context()).Site || mode != "" &&
		mode != "navigate" ||
		r.ContentLength < 0 || r.ContentLength > maxKept {
		return false
	}
	form, err := ReadForm(r)
	if err != nil {
		return false
	}
	v := struct {
		Frame
		Fields []keptField
	}{Frame: k.bare(r, "You are signed out")}
	for name, values := range form.Values {
		if strings.Contains(name, "password") || strings.Contains(name, "secret") ||
			strings.Contains(name, "token") {
			return false
		}
		for _, value := range values {
			v.Fields = append(v.Fields, keptField{name, value})
		}
	}
	slices.SortStableFunc(v.Fields, func(a, b keptField) int { return strings.Compare(a.Name, b.Name) })
	var b bytes.Buffer
	if plain().ExecuteTemplate(&b, "signedout.html", v) != nil {
		return false
	}
	headers(w, r)
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(http.StatusUnauthorized)
	w.Write(b.Bytes())
	return true
}
