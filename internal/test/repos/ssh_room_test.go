package repos_test

import (
	"strings"
	"testing"

	"arbor/internal/account/key"
	"arbor/internal/server"
	"arbor/internal/test/testkit"
)

// A push to a nearly full disk gets the error as over HTTP, without an error in the log. Fetches still
// work.
func TestPushWithoutRoom(t *testing.T) {
	t.Parallel()
	full := func(o *server.Options) { o.MinFree = 1 << 60 }
	each(t, func(t *testing.T, w *world) {
		w.User(t, "alice")
		w.Repo(t, "alice/garden", false)
		k := testkit.Signer(t)
		n := key.NewKey{Title: "t", Text: testkit.AuthorizedKey(k)}
		if _, err := w.Forge.Keys.AddUserKey(t.Context(), "alice", n); err != nil {
			t.Fatal(err)
		}
		for service, refused := range map[string]bool{"receive": true, "upload": false} {
			session, err := w.connect(t, k).NewSession()
			if err != nil {
				t.Fatal(err)
			}
			session.Stdin = strings.NewReader("0000")
			said, err := session.CombinedOutput("git-" + service + "-pack alice/garden.git")
			if (err != nil) != refused || strings.Contains(string(said), "disk") != refused {
				t.Errorf("git-%s-pack: %v, %s", service, err, said)
			}
		}
		if text := w.Log.Text(); !strings.Contains(text, "status=507") {
			t.Errorf("the log does not tell of a 507:\n%s", text)
		}
	}, full)
}
