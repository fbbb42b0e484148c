package repos_test

import (
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"arbor/internal/account"
	"arbor/internal/errs"
	"arbor/internal/server"
	"arbor/internal/test/apitest"
	"arbor/internal/test/gittest"
	"arbor/internal/test/testkit"
)

// A file is being downloaded when its repository is deleted: the download comes to
// its end, nothing else begins, and then the folder is set aside.
func TestDeletedWhileRead(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		s.User(t, "alice")
		r := s.Repo(t, "alice/plot", false)
		const size = 16 << 20 // more than the buffers of a connection hold
		source := gittest.Bare(t)
		gittest.Import(t, source,
			strings.NewReader(fmt.Sprintf("commit refs/heads/main\ncommitter A <a@x> 1 +0000\n"+
				"data 0\nM 100644 inline large\ndata %d\n%s\ndone\n", size, strings.Repeat("x", size))))
		s.Import(t, r, source)
		folder := s.Objects(t, r.ID).Dir()

		answer, err := http.Get(s.URL + "/alice/plot/raw/main/large")
		if err != nil {
			t.Fatal(err)
		}
		defer answer.Body.Close()
		s.Check(t, apitest.Case{Do: "DELETE /repos/alice/plot", As: "alice", Status: 204})
		if _, _, err := s.Repos.GitOf(t.Context(), r.ID); !errs.Is(err, errs.NotFound) {
			t.Errorf("a deleted repository opens: %v", err)
		}
		if _, err := os.Stat(folder); err != nil {
			t.Errorf("the folder is gone while it is read: %v", err)
		}
		if n, err := io.Copy(io.Discard, answer.Body); err != nil || n != size {
			t.Errorf("the download ended after %d bytes: %v", n, err)
		}
		testkit.Eventually(t, func() bool {
			_, err := os.Stat(folder)
			return os.IsNotExist(err)
		}, "the folder is set aside")
	})
}

// The folder of a repository cannot be read: all that needs objects fails with a
// plain 500, nothing changes, and all works again once the folder is back.
func TestUnreadableFolder(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, before *apitest.Server) {
		before.User(t, "alice")
		r := before.Repo(t, "alice/plot", false)
		source := gittest.Repository(t, 3, 3)
		gittest.Run(t, source, "branch", "side", "main~1")
		before.Import(t, r, source)
		tip, tree := gittest.Run(t, source, "rev-parse", "main"),
			gittest.Run(t, source, "rev-parse", "main^{tree}")
		blob := gittest.Run(t, source, "rev-parse", "main:dir0/file0.txt")
		shard := filepath.Dir(before.Objects(t, r.ID).Dir())

		if err := before.Server.Settle(t.Context()); err != nil { // so no worker reads the folder
			t.Fatal(err)
		}
		// A server that has not read the folder yet.
		s := apitest.Start(t, before.Engine, func(o *server.Options) {
			o.DB, o.DataDir = before.DB, before.Dir
		})
		s.Log.AllowErrors()
		s.User(t, "bob")
		s.Grant(t, r, "bob", account.Admin)
		if err := os.Rename(shard, shard+".away"); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(shard, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		refs := s.Check(t, apitest.Case{Do: "GET /repos/alice/plot/git/matching-refs/", As: "bob",
			Status: 200}).Body
		for _, c := range []apitest.Case{
			{Do: "GET /repos/alice/plot/git/trees/main"},
			{Do: "GET /repos/alice/plot/git/trees/" + tree + "?recursive=1"},
			{Do: "GET /repos/alice/plot/git/blobs/" + blob},
			{Do: "GET /repos/alice/plot/git/commits/" + tip},
			{Do: "GET /repos/alice/plot/commits"},
			{Do: "GET /repos/alice/plot/commits/main"},
			{Do: "GET /repos/alice/plot/commits/" + tip[:8]},
			{Do: "GET /repos/alice/plot/commits/" + tip + "/status"},
			{Do: "GET /repos/alice/plot/branches/main"},
			{Do: "GET /repos/alice/plot/compare/side...main"},
			{Do: "GET /repos/alice/plot/contents/dir0"},
			{Do: "GET /repos/alice/plot/readme"},
			{Do: "GET /repos/alice/plot/contributors"},
			{Do: "POST /repos/alice/plot/git/blobs", Send: `{"content": "x"}`},
			{Do: "POST /repos/alice/plot/git/trees",
				Send: `{"tree": [{"path": "x", "mode": "100644", "content": "x"}]}`},
			{Do: "POST /repos/alice/plot/git/commits", Send: `{"message": "x", "tree": "` + tree + `"}`},
			{Do: "POST /repos/alice/plot/git/refs", Send: `{"ref": "refs/heads/new", "sha": "` + tip + `"}`},
			{Do: "PATCH /repos/alice/plot/git/refs/heads/side", Send: `{"sha": "` + tip + `"}`},
			{Do: "PUT /repos/alice/plot/contents/new", Send: `{"message": "x", "content": "eA=="}`},
			{Do: "POST /repos/alice/plot/merges", Send: `{"base": "side", "head": "main"}`},
			{Do: "POST /repos/alice/plot/pulls", Send: `{"title": "x", "base": "side", "head": "main"}`},
			{Do: "POST /repos/alice/plot/statuses/" + tip, Send: `{"state": "success"}`},
			{Do: "POST /repos/alice/plot/forks"},
		} {
			c.As, c.Status = "bob", http.StatusInternalServerError
			if body := s.Check(t, c).Body; strings.Contains(string(body), shard) {
				t.Errorf("%s tells where the folder is: %s", c.Do, body)
			}
		}
		clone := t.TempDir()
		if _, _, err := gittest.Try(t, clone, nil, "clone", "-q", s.Remote(t, "bob", "alice/plot"),
			"."); err == nil {
			t.Error("a clone of nothing")
		}
		gittest.Run(t, source, "branch", "pushed", "main")
		if _, _, err := gittest.Try(t, source, nil, "push", "-q", s.Remote(t, "bob", "alice/plot"),
			"pushed"); err == nil {
			t.Error("a push into nothing")
		}
		s.Check(t, apitest.Case{Do: "GET /repos/alice/plot/git/matching-refs/", As: "bob", Status: 200,
			Body: string(refs)})

		if err := os.Remove(shard); err != nil {
			t.Fatal(err)
		}
		if err := os.Rename(shard+".away", shard); err != nil {
			t.Fatal(err)
		}
		gittest.Run(t, source, "push", "-q", s.Remote(t, "bob", "alice/plot"), "pushed")
		gittest.Run(t, clone, "clone", "-q", s.Remote(t, "bob", "alice/plot"), ".")
		gittest.Run(t, clone, "fsck", "--full", tip)
	})
}
