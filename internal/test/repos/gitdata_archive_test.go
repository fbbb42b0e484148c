package repos_test

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"io"
	"slices"
	"strings"
	"testing"

	"arbor/internal/account"
	"arbor/internal/test/apitest"
	"arbor/internal/test/testkit"
)

// The files of a commit can be downloaded as an archive under any name of the commit, and invisible
// repositories stay hidden (decision 13).
func TestArchives(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		s.Users(t, "alice", "bob", "eve")
		s.Repo(t, "alice/empty", false)
		s.Grant(t, s.Repo(t, "alice/vault", true), "bob", account.Pull)
		var made struct{ Commit struct{ SHA string } }
		s.Check(t, apitest.Case{Do: "PUT /repos/alice/vault/contents/docs/a%20b.txt",
			As: "alice", Status: 201,
			Send: `{"message": "Begin", "content": "aGVsbG8K", "branch": "main"}`}).JSON(t, &made)
		sha := made.Commit.SHA
		s.Check(t, apitest.Case{Do: "POST /repos/alice/vault/git/refs", As: "alice", Status: 201,
			Send: `{"ref": "refs/heads/a/b", "sha": "` + sha + `"}`})
		at := func(end string) map[string]string {
			return map[string]string{"Location": "{base}/alice/vault/archive/" + sha + end}
		}
		s.Run(t, []apitest.Case{
			{Do: "GET /repos/alice/vault/tarball", As: "bob", Status: 302, Has: at(".tar.gz")},
			{Do: "GET /repos/alice/vault/tarball/main", As: "bob", Status: 302, Has: at(".tar.gz")},
			{Do: "GET /api/v3/repos/alice/vault/tarball/refs/heads/a/b", As: "bob", Status: 302,
				Has: at(".tar.gz")},
			{Do: "GET /repos/alice/vault/zipball/a%2Fb", As: "bob", Status: 302, Has: at(".zip")},
			{Do: "GET /repos/alice/vault/zipball/" + sha, As: "bob", Status: 302, Has: at(".zip")},
			{Do: "GET /repos/alice/vault/zipball/none", As: "bob", Status: 404},
			{Do: "GET /repos/alice/vault/zipball", As: "eve", Status: 404},
			{Do: "GET /repos/alice/vault/tarball/main", Status: 404},
			{Do: "GET /repos/alice/empty/tarball", Status: 409},
			{Do: "GET /alice/empty/archive/main.zip", Status: 409},
			{Do: "GET /alice/vault/archive/" + sha + ".zip", As: "eve", Status: 404},
			{Do: "GET /alice/vault/archive/" + sha + ".rar", As: "bob", Status: 404},
			{Do: "GET /alice/vault/archive/.zip", As: "bob", Status: 404},
			{Do: "GET /alice/vault/archive/--output=x.zip", As: "bob", Status: 404},
			{Do: "GET /alice/vault/archive/main.zip", As: "bob", Status: 304,
				Headers: map[string]string{"If-None-Match": `"` + sha + `.zip"`}},
			{Do: "HEAD /alice/vault/archive/main.zip", As: "bob", Status: 200, Body: "-",
				Has: map[string]string{"Content-Type": "application/zip"}},
		})
		folder := "alice-vault-" + sha[:7]
		want := []string{folder + "/", folder + "/docs/", folder + "/docs/a b.txt"}
		for name, read := range map[string]func(*testing.T, []byte) []string{".tar.gz": tarNames, ".zip": zipNames} {
			for _, of := range []string{"main", "refs/heads/a/b", sha} {
				a := s.Check(t, apitest.Case{Do: "GET /alice/vault/archive/" + of + name, As: "bob",
					Status: 200, Has: map[string]string{
						"ETag":                   `"` + sha + name + `"`,
						"Content-Disposition":    `attachment; filename="` + folder + name + `"`,
						"X-Content-Type-Options": "nosniff"}})
				if got := read(t, a.Body); !slices.Equal(got, want) {
					t.Errorf("%s%s holds %q, want %q", of, name, got, want)
				}
			}
		}
	})
}

func tarNames(t *testing.T, body []byte) (names []string) {
	t.Helper()
	z, err := gzip.NewReader(bytes.NewReader(body))
	testkit.NoError(t, err)
	for r := tar.NewReader(z); ; {
		h, err := r.Next()
		if err == io.EOF {
			return names
		}
		testkit.NoError(t, err)
		if strings.HasSuffix(h.Name, ".txt") {
			if text, err := io.ReadAll(r); err != nil || string(text) != "hello\n" {
				t.Errorf("%s holds %q, %v", h.Name, text, err)
			}
		}
		if h.Typeflag != tar.TypeXGlobalHeader { // which names the commit
			names = append(names, h.Name)
		}
	}
}

func zipNames(t *testing.T, body []byte) (names []string) {
	t.Helper()
	z, err := zip.NewReader(bytes.NewReader(body), int64(len(body)))
	testkit.NoError(t, err)
	for _, f := range z.File {
		names = append(names, f.Name)
	}
	return names
}
