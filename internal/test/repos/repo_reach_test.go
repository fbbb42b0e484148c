package repos_test

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"arbor/internal/account"
	"arbor/internal/db"
	"arbor/internal/git"
	"arbor/internal/git/wire"
	"arbor/internal/repo/maintenance"
	"arbor/internal/server"
	"arbor/internal/test/apitest"
	"arbor/internal/test/dbtest"
	"arbor/internal/test/gittest"
	"arbor/internal/test/testkit"
)

// clock is the time of a server's database, which a test moves on.
type clock struct{ ahead atomic.Int64 }

func (c *clock) now() time.Time           { return time.Now().Add(time.Duration(c.ahead.Load())) }
func (c *clock) forward(by time.Duration) { c.ahead.Add(int64(by)) }

// eachTimed is apitest.Each with a clock of the test's.
func eachTimed(t *testing.T, fn func(t *testing.T, s *apitest.Server, c *clock)) {
	t.Helper()
	dbtest.Each(t, func(t *testing.T, engine db.Engine) {
		c := &clock{}
		d := dbtest.OpenWith(t, db.Options{URL: dbtest.URL(t, engine), Now: c.now})
		fn(t, apitest.Start(t, engine, func(o *server.Options) { o.DB = d }), c)
	})
}

// repoPast is a repository that is public now, and the objects of its private time.
type repoPast struct {
	dir string // a clone that has all of it

	commit, tree, blob, tag string // that no ref leads to any more
	branch                  string // the commit of a branch that was deleted
	shown                   []string
	tip                     string
}

// published creates alice/garden, to which will may push and which rae may read. While it was private, a
// secret was force-pushed away, and a tag and a branch were deleted; then it became public. eve is a
// stranger.
func published(t *testing.T, s *apitest.Server) *repoPast {
	t.Helper()
	s.Users(t, "alice", "will", "rae", "eve")
	r := s.Repo(t, "alice/garden", true)
	s.Grant(t, r, "will", account.Push)
	s.Grant(t, r, "rae", account.Pull)
	p := &repoPast{dir: filepath.Join(t.TempDir(), "clone")}
	source := gittest.Repository(t, 3, 4)
	gittest.Run(t, source, "tag", "-a", "-m", "x", "v1", "main~1")
	gittest.Run(t, source, "tag", "-a", "-m", "nested", "v2", "v1")
	s.Import(t, r, source)
	gittest.Run(t, t.TempDir(), "clone", "-q", s.Remote(t, "will", "alice/garden"), p.dir)
	base := gittest.Run(t, p.dir, "rev-parse", "HEAD")
	p.commit, p.tree, p.blob = gittest.CommitFile(t, p.dir, "secret.txt", purgeSecret)
	gittest.Run(t, p.dir, "tag", "-a", "-m", "secret", "hidden")
	p.tag = gittest.Run(t, p.dir, "rev-parse", "hidden")
	gittest.Run(t, p.dir, "push", "-q", "origin", "main", "hidden")
	gittest.Run(t, p.dir, "checkout", "-q", "-b", "plan", base)
	p.branch, _, _ = gittest.CommitFile(t, p.dir, "plan.txt", "a plan\n")
	gittest.Run(t, p.dir, "push", "-q", "origin", "plan")
	gittest.Run(t, p.dir, "push", "-q", "origin", ":plan", ":hidden")
	gittest.Run(t, p.dir, "checkout", "-q", "-B", "main", base)
	p.tip, _, _ = gittest.CommitFile(t, p.dir, "open.txt", "nothing to hide\n")
	gittest.Run(t, p.dir, "push", "-q", "--force", "origin", "main")
	gittest.Run(t, p.dir, "checkout", "-q", "-b", "topic")
	topic, _, topicBlob := gittest.CommitFile(t, p.dir, "topic.txt", "a topic\n")
	gittest.Run(t, p.dir, "push", "-q", "origin", "topic")
	s.Run(t, []apitest.Case{
		{Do: "POST /repos/alice/garden/pulls", As: "will",
			Send: `{"title": "Topic", "head": "topic", "base": "main"}`, Status: 201},
		{Do: "DELETE /repos/alice/garden/git/refs/heads/topic", As: "will", Status: 204},
		{Do: "PATCH /repos/alice/garden", As: "alice", Send: `{"private": false}`, Status: 200},
	})
	p.shown = []string{p.tip, base, topic, topicBlob}
	for _, name := range []string{"v1", "v2", "main~3^{tree}", "main~3:dir1/file1.txt"} {
		p.shown = append(p.shown, gittest.Run(t, p.dir, "rev-parse", name))
	}
	merge := gittest.Run(t, p.dir, "ls-remote", s.Remote(t, "", "alice/garden"), "refs/pull/1/merge")
	p.shown = append(p.shown, merge[:40])
	return p
}

// named are requests that name the hidden objects in full.
func (p *repoPast) named(repository string) []apitest.Case {
	api := "GET /repos/" + repository
	return []apitest.Case{
		{Do: api + "/git/commits/" + p.commit, Status: 404},
		{Do: api + "/git/trees/" + p.commit, Status: 404},
		{Do: api + "/git/trees/" + p.tree + "?recursive=1", Status: 404},
		{Do: api + "/git/trees/" + p.tag, Status: 404},
		{Do: api + "/git/blobs/" + p.blob, Status: 404},
		{Do: api + "/git/blobs/" + p.blob,
			Headers: map[string]string{"Accept": "application/vnd.github.raw"}, Status: 404},
		{Do: api + "/git/tags/" + p.tag, Status: 404},
		{Do: api + "/commits/" + p.commit, Status: 422},
		{Do: api + "/commits/" + p.branch, Status: 422},
		{Do: api + "/commits/" + strings.ToUpper(p.branch), Status: 422},
		{Do: api + "/commits/" + p.commit,
			Headers: map[string]string{"Accept": "application/vnd.github.diff"}, Status: 422},
		{Do: api + "/commits/" + p.commit,
			Headers: map[string]string{"Accept": "application/vnd.github.sha"}, Status: 422},
		{Do: api + "/commits/" + p.commit + "/status", Status: 422},
		{Do: api + "/commits/" + p.commit + "/statuses", Status: 422},
		{Do: api + "/commits/" + p.commit + "/pulls", Status: 422},
		{Do: api + "/commits/" + p.commit + "/branches-where-head", Status: 422},
		{Do: api + "/commits?sha=" + p.commit, Status: 404},
		{Do: api + "/contents?ref=" + p.commit, Status: 404},
		{Do: api + "/contents/secret.txt?ref=" + p.tag, Status: 404},
		{Do: api + "/contents/secret.txt?ref=" + p.commit,
			Headers: map[string]string{"Accept": "application/vnd.github.raw"}, Status: 404},
		{Do: api + "/compare/main..." + p.commit, Status: 404},
		{Do: api + "/compare/" + p.commit + "..." + p.tip, Status: 404},
		{Do: api + "/compare/" + p.tip + ".." + p.commit,
			Headers: map[string]string{"Accept": "application/vnd.github.diff"}, Status: 404},
		{Do: api + "/tarball/" + p.commit, Status: 404},
		{Do: "GET /" + repository + "/archive/" + p.commit + ".zip", Status: 404},
		{Do: "GET /" + repository + "/raw/" + p.commit + "/secret.txt", Status: 404},
		{Do: "GET /" + repository + "/commit/" + p.commit, Status: 404},
		{Do: "GET /" + repository + "/compare/main..." + p.commit + ".diff", Status: 404},
	}
}

// short are requests that abbreviate the hidden commits.
func (p *repoPast) short(repository string) []apitest.Case {
	var list []apitest.Case
	for _, sha := range []string{p.commit[:4], p.commit[:12], p.branch[:4], p.branch[:39]} {
		list = append(list, apitest.Case{Do: "GET /repos/" + repository + "/commits/" + sha, Status: 422},
			apitest.Case{Do: "GET /repos/" + repository + "/commits/" + sha + "/status", Status: 422},
			apitest.Case{Do: "GET /repos/" + repository + "/compare/main..." + sha, Status: 404})
	}
	return list
}

// all sends the requests as a user.
func all(t *testing.T, s *apitest.Server, as string, cases []apitest.Case) {
	t.Helper()
	for _, c := range cases {
		c.As = as
		s.Check(t, c)
	}
}

// fetches tries to fetch an object by its SHA, in each version of the protocol.
func fetches(t *testing.T, s *apitest.Server, as, repository, sha string, want bool) {
	t.Helper()
	for _, version := range []string{"0", "1", "2"} {
		dir := gittest.Bare(t)
		args := []string{"-c", "protocol.version=" + version}
		if as != "" { // git sends a token to a public repository only if configured
			token := base64.StdEncoding.EncodeToString([]byte(as + ":" + s.Token(t, as)))
			args = append(args, "-c", "http.extraHeader=Authorization: Basic "+token)
		}
		_, stderr, err := gittest.Try(t, dir, nil,
			append(args, "fetch", "-q", s.Remote(t, "", repository), sha)...)
		if (err == nil) != want {
			t.Errorf("protocol %s: %q fetches %s of %s: %v %s", version, as, sha, repository, err, stderr)
		}
		if !want && !bytes.Contains(stderr, []byte("not our ref "+sha)) {
			t.Errorf("protocol %s: %s", version, stderr)
		}
	}
}

// Commits removed by a force push are invisible except to callers with push access, who can read them by
// full SHA for thirty days.
func TestUnreachedObjectsAreNotThere(t *testing.T) {
	t.Parallel()
	eachTimed(t, func(t *testing.T, s *apitest.Server, c *clock) {
		p := published(t, s)
		found := p.named("alice/garden")
		for n := range found {
			if found[n].Status = 200; strings.Contains(found[n].Do, "/tarball/") {
				found[n].Status = 302
			}
		}
		all(t, s, "will", found)
		for _, as := range []string{"", "rae", "eve"} {
			all(t, s, as, p.named("alice/garden"))
		}
		for _, as := range []string{"", "rae", "will", "alice"} {
			all(t, s, as, p.short("alice/garden"))
		}
		for _, sha := range []string{p.commit, p.branch, p.blob, p.tree, p.tag} {
			fetches(t, s, "", "alice/garden", sha, false)
		}
		fetches(t, s, "rae", "alice/garden", p.commit, false)
		fetches(t, s, "will", "alice/garden", p.commit, true)
		fetches(t, s, "will", "alice/garden", p.blob, true)
		for _, sha := range p.shown {
			fetches(t, s, "", "alice/garden", sha, true)
		}
		c.forward(29 * 24 * time.Hour)
		all(t, s, "will", found)
		c.forward(2 * 24 * time.Hour)
		all(t, s, "will", p.named("alice/garden"))
		fetches(t, s, "will", "alice/garden", p.commit, false)
		testkit.NoError(t, maintenance.NewForgetter(s.DB, slog.New(s.Log)).Forget(t.Context()))
		if n := dbtest.Number(t, s.DB, `SELECT count(*) FROM unreached_objects`); n != 0 {
			t.Errorf("%d notes are left", n)
		}
	})
}

// A text links to a commit only if everyone can read it, and a fetching client cannot learn whether the
// server has a hidden commit.
func TestUnreachedObjectsAreNotConfirmed(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		p := published(t, s)
		body := fmt.Sprintf(`{"title": "x", "body": "%s %s %s"}`, p.commit, p.commit[:9], p.tip)
		s.Check(t, apitest.Case{Do: "POST /repos/alice/garden/issues", As: "will", Send: body, Status: 201})
		for _, as := range []string{"will", ""} {
			a := s.Check(t, apitest.Case{Do: "GET /repos/alice/garden/issues/2", As: as, Status: 200,
				Headers: map[string]string{"Accept": "application/vnd.github.html+json"}})
			if !strings.Contains(string(a.Body), "/commit/"+p.tip) ||
				strings.Contains(string(a.Body), "/commit/"+p.commit) {
				t.Errorf("%q reads %s", as, a.Body)
			}
		}
		base := p.shown[1]
		for _, have := range []string{p.commit, p.branch} {
			v2 := pkts("command=fetch", "", "want "+p.tip, "have "+have, "have "+base, "shallow "+have)
			v0 := append(pkts("want "+p.tip+" multi_ack_detailed no-done", "shallow "+have), "0000"...)
			v0 = append(append(v0, pkts("have "+have, "have "+base)...), "0000"...)
			for version, request := range map[string][]byte{"version=2": append(v2, "0000"...), "": v0} {
				answer := upload(t, s, "alice/garden", version, request)
				if strings.Contains(answer, have) || !strings.Contains(answer, base) {
					t.Errorf("%q: the server says of %s: %q", version, have, answer)
				}
			}
		}
	})
}

// pkts are lines of git's protocol; an empty one is a delimiter.
func pkts(lines ...string) []byte {
	var b []byte
	for _, l := range lines {
		if l == "" {
			b = append(b, "0001"...)
			continue
		}
		b = wire.AppendPkt(b, l+"\n")
	}
	return b
}

// upload asks git-upload-pack of a public repository.
func upload(t *testing.T, s *apitest.Server, repository, version string, body []byte) string {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), "POST", s.URL+"/"+repository+".git/git-upload-pack",
		bytes.NewReader(body))
	testkit.NoError(t, err)
	r.Header.Set("Content-Type", "application/x-git-upload-pack-request")
	r.Header.Set("Git-Protocol", version)
	return repoSend(t, r)
}

func repoSend(t *testing.T, r *http.Request) string {
	t.Helper()
	answer, err := http.DefaultTransport.RoundTrip(r)
	testkit.NoError(t, err)
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	testkit.NoError(t, err)
	return answer.Status + " " + string(text)
}

// A fork has all packs of a public parent, and so what no ref leads to: it is not
// there either, and its owner cannot make it reachable by knowing its name.
func TestForksInheritWhatIsUnreached(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		p := published(t, s)
		s.Check(t, apitest.Case{Do: "POST /repos/alice/garden/forks", As: "eve", Status: 202})
		for _, as := range []string{"", "eve"} {
			all(t, s, as, p.named("eve/garden"))
			all(t, s, as, p.short("eve/garden"))
			fetches(t, s, as, "eve/garden", p.commit, false)
			fetches(t, s, as, "eve/garden", p.blob, false)
			fetches(t, s, as, "eve/garden", p.tip, true)
		}
		const at = "POST /repos/eve/garden/"
		tree := gittest.Run(t, p.dir, "rev-parse", p.tip+"^{tree}")
		all(t, s, "eve", []apitest.Case{
			{Do: at + "git/refs", Send: `{"ref": "refs/heads/x", "sha": "` + p.commit + `"}`, Status: 422},
			{Do: at + "git/refs", Send: `{"ref": "refs/tags/x", "sha": "` + p.blob + `"}`, Status: 422},
			{Do: "PATCH /repos/eve/garden/git/refs/heads/main",
				Send: `{"force": true, "sha": "` + p.commit + `"}`, Status: 422},
			{Do: at + "git/trees", Status: 422, Send: `{"base_tree": "` + p.tree + `",
				"tree": [{"path": "x", "mode": "100644", "content": "x"}]}`},
			{Do: at + "git/trees", Status: 422,
				Send: `{"tree": [{"path": "x", "mode": "100644", "sha": "` + p.blob + `"}]}`},
			{Do: at + "git/trees", Status: 422,
				Send: `{"tree": [{"path": "x", "mode": "040000", "sha": "` + p.tree + `"}]}`},
			{Do: at + "git/commits", Send: `{"message": "x", "tree": "` + p.tree + `"}`, Status: 422},
			{Do: at + "git/commits", Status: 422,
				Send: `{"message": "x", "tree": "` + tree + `", "parents": ["` + p.commit + `"]}`},
			{Do: at + "git/tags", Status: 422,
				Send: `{"tag": "x", "message": "x", "type": "blob", "object": "` + p.blob + `"}`},
			{Do: at + "merges", Send: `{"base": "main", "head": "` + p.commit + `"}`, Status: 404},
			{Do: at + "statuses/" + p.commit, Send: `{"state": "success"}`, Status: 422},
		})
		// A tree that names the blob, and a blob that is a delta of it.
		naming := gittest.Run(t, p.dir, "commit-tree", "-m", "x", p.tree)
		pushes(t, s, "eve/garden", p.dir, naming, naming+"\n", "refuses")
		gittest.Run(t, p.dir, "checkout", "-q", p.commit)
		thin, _, _ := gittest.CommitFile(t, p.dir, "secret.txt", purgeSecret+"more\n")
		gittest.Run(t, p.dir, "checkout", "-q", p.tip)
		alone := gittest.Run(t, p.dir, "commit-tree", "-m", "x", "-p", p.tip, thin+"^{tree}")
		blob := gittest.Run(t, p.dir, "rev-parse", thin+":secret.txt")
		top := gittest.Run(t, p.dir, "rev-parse", alone+"^{tree}")
		pushes(t, s, "eve/garden", p.dir, alone,
			"-"+p.commit+"\n"+alone+"\n"+top+"\n"+blob+" secret.txt\n", "refuses")
		// Those who push where it was may bring it back.
		pushes(t, s, "alice/garden", p.dir, naming, naming+"\n", "takes")
	})
}

// pushes sends a pack of the listed objects and nothing else, which the server
// takes or refuses.
func pushes(t *testing.T, s *apitest.Server, repository, dir, tip, objects, want string, options ...string) {
	t.Helper()
	pack := gittest.Pipe(t, dir, strings.NewReader(objects),
		append([]string{"pack-objects", "-q", "--stdout"}, options...)...)
	body := wire.AppendPkt(nil, string(git.ZeroSHA)+" "+tip+" refs/heads/"+tip[:7]+"x\x00 report-status")
	r, err := http.NewRequestWithContext(t.Context(), "POST", s.URL+"/"+repository+".git/git-receive-pack",
		bytes.NewReader(append(append(body, "0000"...), pack...)))
	testkit.NoError(t, err)
	login := map[string]string{"eve/garden": "eve", "alice/garden": "will"}[repository]
	r.SetBasicAuth(login, s.Token(t, login))
	r.Header.Set("Content-Type", "application/x-git-receive-pack-request")
	got := repoSend(t, r)
	took := strings.Contains(got, "unpack ok")
	if took != (want == "takes") || !took && !strings.Contains(got, "missing necessary objects") {
		t.Errorf("the answer to a push is %q, but should be of a server that %s it", got, want)
	}
}

// Partial clones fetch blobs and trees by SHA, as many as a checkout needs, also
// where there is something to hide.
func TestPartialClonesOfFlaggedRepositories(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		published(t, s)
		for _, filter := range []string{"blob:none", "tree:0"} {
			for _, version := range []string{"0", "2"} {
				dir := filepath.Join(t.TempDir(), "partial")
				gittest.Run(t, t.TempDir(), "-c", "protocol.version="+version, "clone", "-q",
					"--filter="+filter, s.Remote(t, "", "alice/garden"), dir)
				text, err := os.ReadFile(filepath.Join(dir, "open.txt"))
				if err != nil || string(text) != "nothing to hide\n" {
					t.Errorf("%s: %q, %v", filter, text, err)
				}
				gittest.Run(t, dir, "log", "-p", "-q", "--all")
				gittest.Run(t, dir, "checkout", "-q", "HEAD~2")
			}
		}
	})
}

// Visibility follows the refs: restored objects are visible again, removed ones are not, and objects
// written by the API only with push access.
func TestReachFollowsTheRefs(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		p := published(t, s)
		sees := func(status int) {
			t.Helper()
			for _, path := range []string{
				"/git/commits/" + p.commit, "/git/trees/" + p.tree, "/git/blobs/" + p.blob,
			} {
				s.Check(t, apitest.Case{Do: "GET /repos/alice/garden" + path, As: "eve", Status: status})
			}
		}
		for range 2 {
			sees(404)
			gittest.Run(t, p.dir, "push", "-q", "origin", p.commit+":refs/heads/back")
			sees(200)
			s.Ask(t, "eve", "GET /repos/alice/garden/commits/"+p.commit[:7], "", 200)
			gittest.Run(t, p.dir, "push", "-q", "origin", p.commit+":refs/tags/kept", ":back")
			sees(200)
			s.Ask(t, "will", "DELETE /repos/alice/garden/git/refs/tags/kept", "", 204)
		}
		sees(404)
		s.Repo(t, "alice/young", false)
		s.Ask(t, "alice", "PUT /repos/alice/young/contents/a", `{"message": "x", "content": ""}`, 201)
		var made struct{ SHA string }
		s.Check(t, apitest.Case{Do: "POST /repos/alice/young/git/blobs", As: "alice",
			Send: `{"content": "x"}`, Status: 201}).JSON(t, &made)
		s.Run(t, []apitest.Case{
			{Do: "GET /repos/alice/young/git/blobs/" + made.SHA, As: "alice", Status: 200},
			{Do: "GET /repos/alice/young/git/blobs/" + made.SHA, As: "eve", Status: 404},
			{Name: "git's empty tree", Do: "GET /repos/alice/young/git/trees/" + string(git.EmptyTree),
				As: "eve", Status: 200},
		})
	})
}
