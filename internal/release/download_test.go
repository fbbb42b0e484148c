package release

import (
	"mime"
	"testing"
)

// A name ends the parameter of the header only where it ends.
func TestDisposition(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"a.zip", `a"; filename="b.html`, `a\`, `\"`} {
		kind, parameters, err := mime.ParseMediaType(disposition(name))
		if err != nil || kind != "attachment" || len(parameters) != 1 || parameters["filename"] != name {
			t.Errorf("%s: %q, %v, %v", name, kind, parameters, err)
		}
	}
}
