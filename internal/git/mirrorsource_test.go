package git

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"arbor/internal/errs"
	"arbor/internal/test/testkit"
)

// The address of an import may stand in a seed that somebody else wrote: it starts no program, waits for
// nothing, and the other server writes nothing to the operator's terminal, whatever the operator's git is
// configured for.
func TestHostileSources(t *testing.T) {
	t.Setenv("GIT_CONFIG_COUNT", "1")
	t.Setenv("GIT_CONFIG_KEY_0", "protocol.allow")
	t.Setenv("GIT_CONFIG_VALUE_0", "always")
	bin := t.TempDir()
	started := filepath.Join(t.TempDir(), "started")
	testkit.Program(t, filepath.Join(bin, "git-remote-evil"), "touch "+started+"\n")
	t.Setenv("PATH", bin+":"+os.Getenv("PATH"))
	pkt := func(text string) string { return fmt.Sprintf("%04x%s", len(text)+4, text) }
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case strings.HasPrefix(r.URL.Path, "/elsewhere"):
			w.Header().Set("Location", "file:///"+bin)
			w.WriteHeader(http.StatusMovedPermanently)
		default:
			w.Header().Set("Content-Type", "application/x-git-upload-pack-advertisement")
			fmt.Fprint(w, pkt("# service=git-upload-pack\n"), "0000", pkt("ERR \x1b]0;title\a \x1b[2J no\n"))
		}
	}))
	t.Cleanup(server.Close)
	parent := t.TempDir()
	g := node(t)
	for _, source := range []string{
		"ext::sh -c touch% " + started, "fd::0", "evil::address", "evil://address/path",
		"--upload-pack=touch " + started, "-c", "ssh://-oProxyCommand=touch%20" + started + "/x",
		server.URL + "/elsewhere", server.URL + "/escapes", parent, "/dev/null", "file://" + parent, "",
	} {
		begun := time.Now()
		m, err := g.Mirror(t.Context(), Source{Address: source}, parent, func(string, int64, int64) {})
		if err == nil {
			t.Errorf("%q is read as a repository: %v", source, m.Remove())
			continue
		}
		if !errs.Is(err, errs.Invalid) || strings.ContainsAny(err.Error(), "\x1b\a\n") {
			t.Errorf("%q after %s: %q", source, time.Since(begun), err)
		}
		if strings.HasPrefix(source, "evil") && !strings.Contains(err.Error(), "not allowed") {
			t.Errorf("%q: %v", source, err)
		}
	}
	if _, err := os.Stat(started); err == nil {
		t.Error("an address started a program")
	}
	if left, err := os.ReadDir(parent); err != nil || len(left) != 0 {
		t.Errorf("copies stay: %v, %v", left, err)
	}
}
